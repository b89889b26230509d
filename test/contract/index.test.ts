import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ALL_ENDPOINTS } from '../../src/clients/routes.ts'
import { listRows, README, testsOfRows } from './list.ts'
import { ROWS } from './rows.ts'

const rows: readonly string[] = Object.values(ROWS).flat()

test('each row of the contract is tested, in one place', () => {
  assert.equal(new Set(rows).size, rows.length, 'titles are unique')
  for (const [row, files] of testsOfRows()) assert.equal(files.length, 1, `${row}: ${files.join(' and ') || 'no test'}`)
})

test('the list of rows and their tests is current: npm run contract', () => {
  assert.equal(readFileSync(README, 'utf8'), listRows())
})

const isThere = (route: string) =>
  ALL_ENDPOINTS.some(({ method, path }) => withoutNames(`${method} ${path}`) === withoutNames(route))

const withoutNames = (route: string) => route.replaceAll(/:\w+/g, ':')

test('each endpoint of the contract exists with its method and path', () => {
  const endpoints = rows.filter((row) => /^(GET|POST|PATCH|DELETE) \//.test(row))
  assert.equal(endpoints.length, 64)
  for (const route of endpoints) assert.ok(isThere(route), route)
})
