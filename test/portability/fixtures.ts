import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { raw, sql } from '../../src/platform/database/sql.ts'
import type { TestApp } from '../helpers.ts'

/** The folder of unmodified third-party packages, each with its own license. */
export const PACKAGES = path.join(import.meta.dirname, 'packages')

/** Returns the files of a folder in the format of an inline source. */
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

/** Imports files into a new company, as the board, without network access. Returns the applied plan. */
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

/** Exports everything, and returns the files. */
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

/** Counts the rows of each table, to check that nothing was added or removed. */
export const countRows = (app: TestApp): Record<string, number> =>
  Object.fromEntries(
    TABLES.map((table) => [table, app.ctx.db.all(sql.selectFrom(table).select(raw.lit(1).as('one'))).length]),
  )

/** Expects that an import refuses a package and changes nothing. */
export async function refuse(app: TestApp, body: Record<string, unknown>, message: RegExp): Promise<void> {
  const before = countRows(app)
  for (const what of ['preview', 'apply']) {
    const response = await app.request('POST', `/api/companies/import/${what}`, {
      target: { mode: 'new_company' },
      ...body,
    })
    assert.equal(response.status, 422, JSON.stringify(response.body))
    assert.match(response.body.error, message)
  }
  assert.deepEqual(countRows(app), before)
}
