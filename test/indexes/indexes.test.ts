import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { findUnused, indexesOf, openSchema, STATEMENTS_FILE } from './uses.ts'

test('each index is used by a query, is unique, or finds the rows of a deleted parent', () => {
  const sqlite = openSchema()
  const statements = Object.entries<string>(JSON.parse(readFileSync(STATEMENTS_FILE, 'utf8')))
  const wrong = statements.filter(([index, statement]) => !indexesOf(sqlite, statement).includes(index))
  assert.deepEqual(
    wrong.map(([index]) => index),
    [],
    'Their statements in statements.json do not use them: npm run prove:indexes',
  )
  assert.deepEqual(findUnused(sqlite, new Set(statements.map(([index]) => index))), [])
})

test('an index that no query uses is found', () => {
  const sqlite = openSchema()
  const used = new Set(Object.keys(JSON.parse(readFileSync(STATEMENTS_FILE, 'utf8'))))
  sqlite.exec('create index issue_by_title on issue (title)')
  assert.deepEqual(findUnused(sqlite, used), ['issue_by_title'])
})
