import { configOf } from '../../src/agent/configuration.ts'
import { findAgent } from '../../src/agent/queries.ts'
import { sql } from '../../src/database/sql.ts'
import * as rows from '../arrange.ts'
import type { Ask, TestApp } from '../helpers.ts'

/** Makes a company and returns its id. */
export async function makeCompany(app: TestApp, body: Record<string, unknown> = {}): Promise<string> {
  return (await app.make('POST', '/api/companies', { name: 'Acme', ...body })).id
}

/** Makes an agent as the board does and returns its answer. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely.
export async function makeAgent(app: TestApp, companyId: string, body: Record<string, unknown> = {}): Promise<any> {
  return app.make('POST', `/api/companies/${companyId}/agents`, { name: 'Ann', ...body })
}

/** The `adapterConfig` that an agent runs with, its secrets in plain. */
export const plainConfig = (app: TestApp, id: string) => configOf(app.ctx, findAgent(app.ctx.db, { id })!).adapterConfig

/** Imports a skill of a few words for each slug. */
export async function importSkills(app: TestApp, companyId: string, ...slugs: string[]): Promise<void> {
  const files = Object.fromEntries(slugs.map((slug) => [`${slug}/SKILL.md`, `---\nname: ${slug}\n---\nDo it.\n`]))
  await app.make('POST', `/api/companies/${companyId}/skills/import`, { files })
}

/** Starts a live run of an agent, as rows, and returns its id. */
export const insertRun = (app: TestApp, agent: { id: string; companyId: string }, row = {}): Promise<string> =>
  app.ctx.write(() => rows.insertRunRow(app.ctx, { id: agent.id, company_id: agent.companyId }, row))

/** Asks as an agent, with the token of a live run of its. */
export async function asAgent(app: TestApp, agent: { id: string; companyId: string }): Promise<Ask> {
  const known = app.ctx.db.first(
    sql.selectFrom('run').select('id').where('agent_id', '=', agent.id).where('finished_at', 'is', null),
  )
  const id = known?.id ?? (await insertRun(app, agent))
  return app.as(await app.ctx.tokens.sign({ id, agentId: agent.id, companyId: agent.companyId }))
}

/** Books what an agent spent, as a cost event. */
export const spend = (app: TestApp, agent: { id: string; companyId: string }, cents: number): Promise<void> =>
  app.ctx.write(() => rows.insertSpend(app.ctx, { id: agent.id, company_id: agent.companyId }, cents))

/** Puts an issue into a company, as a row, and returns its id. */
export const insertIssue = (app: TestApp, companyId: string, row: Record<string, unknown> = {}): Promise<string> =>
  app.ctx.write(() => rows.insertIssue(app.ctx, { ...row, company_id: companyId }).id)

/** The actions in a company's activity, oldest first. */
export async function actions(app: TestApp, companyId: string): Promise<string[]> {
  const { body } = await app.ask('GET', `/api/companies/${companyId}/activity`)
  return body.map((entry: { action: string }) => entry.action).reverse()
}
