import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { raw, sql } from '../../src/platform/database/sql.ts'
import type { TestApp } from '../helpers.ts'

/** Where packages of others are kept, as they came, each under its own license. */
export const PACKAGES = path.join(import.meta.dirname, 'packages')

/** The files of a folder as an inline source has them. */
export function filesOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return Object.fromEntries(
    names.map((entry) => {
      const file = path.join(entry.parentPath, entry.name)
      return [path.relative(folder, file), readFileSync(file, 'utf8')]
    }),
  )
}

type Files = Record<string, string | { encoding: 'base64'; data: string }>

export const inline = (files: Files) => ({ type: 'inline', files })

/** Imports files into a new company, as the board, without the network. Returns the plan as it was done. */
export const importNew = (app: TestApp, files: Files, more: Record<string, unknown> = {}) =>
  app.make('POST', '/api/companies/import/apply', {
    source: inline(files),
    target: { mode: 'new_company' },
    fetchSkills: false,
    ...more,
  })

/** Imports files into a company, as the board. */
export const importInto = (app: TestApp, companyId: string, files: Files, more: Record<string, unknown> = {}) =>
  app.make('POST', `/api/companies/${companyId}/imports/apply`, {
    source: inline(files),
    target: { mode: 'existing_company', companyId },
    fetchSkills: false,
    ...more,
  })

const EVERYTHING = { company: true, agents: true, projects: true, issues: true }

/** The files of an export of everything. */
export const exportAll = async (app: TestApp, companyId: string): Promise<Files> =>
  (await app.make('POST', `/api/companies/${companyId}/exports`, { include: EVERYTHING })).files

const TABLES = [
  'company',
  'agent',
  'goal',
  'project',
  'issue',
  'routine',
  'label',
  'skill',
  'approval',
  'activity',
  'package_part',
] as const

/** What stands in the database, of all kinds: to see that nothing came or went. */
export const countRows = (app: TestApp): Record<string, number> =>
  Object.fromEntries(
    TABLES.map((table) => [table, app.ctx.db.all(sql.selectFrom(table).select(raw.lit(1).as('one'))).length]),
  )

/** Refuses a package, and checks that nothing came of it. */
export async function refuse(app: TestApp, body: Record<string, unknown>, message: RegExp): Promise<void> {
  const before = countRows(app)
  for (const what of ['preview', 'apply']) {
    const answer = await app.ask('POST', `/api/companies/import/${what}`, { target: { mode: 'new_company' }, ...body })
    assert.equal(answer.status, 422, JSON.stringify(answer.body))
    assert.match(answer.body.error, message)
  }
  assert.deepEqual(countRows(app), before)
}
