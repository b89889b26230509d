import { v7 as uuid } from 'uuid'
import { sql } from '../../src/database/sql.ts'
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

/** Imports a skill of a few words for each slug. */
export async function importSkills(app: TestApp, companyId: string, ...slugs: string[]): Promise<void> {
  const files = Object.fromEntries(slugs.map((slug) => [`${slug}/SKILL.md`, `---\nname: ${slug}\n---\nDo it.\n`]))
  await app.make('POST', `/api/companies/${companyId}/skills/import`, { files })
}

/** Starts a live run of an agent, as rows, and returns its id. */
export async function insertRun(app: TestApp, agent: { id: string; companyId: string }, row = {}): Promise<string> {
  const [id, wakeId, at] = [uuid(), uuid(), app.ctx.now]
  await app.ctx.write(() => {
    const { db } = app.ctx
    const wake = { id: wakeId, company_id: agent.companyId, agent_id: agent.id, reasons: '[]' }
    db.run(sql.insertInto('wake').values({ ...wake, status: 'claimed', created_at: at, updated_at: at }))
    db.run(
      sql.insertInto('run').values({
        id,
        company_id: agent.companyId,
        agent_id: agent.id,
        wake_id: wakeId,
        status: 'running',
        source: 'on_demand',
        reasons: '[]',
        adapter_type: 'process',
        created_at: at,
        ...row,
      }),
    )
  })
  return id
}

/** Asks as an agent, with the token of a live run of its. */
export async function asAgent(app: TestApp, agent: { id: string; companyId: string }): Promise<Ask> {
  const known = app.ctx.db.first(
    sql.selectFrom('run').select('id').where('agent_id', '=', agent.id).where('finished_at', 'is', null),
  )
  const id = known?.id ?? (await insertRun(app, agent))
  return app.as(await app.ctx.tokens.sign({ id, agentId: agent.id, companyId: agent.companyId }))
}

/** Books what an agent spent, as a cost event. */
export async function spend(app: TestApp, agent: { id: string; companyId: string }, cents: number): Promise<void> {
  const { ctx } = app
  await ctx.write(() =>
    ctx.db.run(
      sql.insertInto('cost_event').values({
        id: uuid(),
        company_id: agent.companyId,
        agent_id: agent.id,
        provider: 'p',
        model: 'm',
        cost_micros: cents * 10_000,
        cost_status: 'reported',
        occurred_at: ctx.now,
        created_at: ctx.now,
      }),
    ),
  )
}

/** Puts an issue into a company, as a row, and returns its id. */
export async function insertIssue(app: TestApp, companyId: string, row: Record<string, unknown> = {}): Promise<string> {
  const id = uuid()
  const { ctx } = app
  await ctx.write(() => {
    const n = ctx.db.all(sql.selectFrom('issue').select('id')).length + 1
    ctx.db.run(
      sql.insertInto('issue').values({
        id,
        company_id: companyId,
        issue_number: n,
        identifier: `T-${n}`,
        title: `Issue ${n}`,
        status: 'todo',
        created_at: ctx.now,
        updated_at: ctx.now,
        ...row,
      }),
    )
  })
  return id
}

/** The actions in a company's activity, oldest first. */
export async function actions(app: TestApp, companyId: string): Promise<string[]> {
  const { body } = await app.ask('GET', `/api/companies/${companyId}/activity`)
  return body.map((entry: { action: string }) => entry.action).reverse()
}
