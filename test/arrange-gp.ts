import { v7 as uuid } from 'uuid'
import { sql } from '../src/database/sql.ts'
import type { AgentTable, IssueTable } from '../src/database/tables.ts'
import { hashKey } from '../src/http/caller.ts'
import type { Ask, TestApp } from './helpers.ts'

export interface TestAgent {
  id: string
  /** Asks with a long-lived key of the agent. */
  ask: Ask
}

/** Puts an agent, with a key, into the database. */
export function insertAgent(
  app: TestApp,
  companyId: string,
  more: { name?: string; role?: string; reportsTo?: string; status?: AgentTable['status']['__select__'] } = {},
): TestAgent {
  const id = uuid()
  const key = `svc_${id}`
  const at = app.ctx.now
  app.ctx.db.run(
    sql.insertInto('agent').values({
      id,
      company_id: companyId,
      name: more.name ?? 'Ada',
      url_key: `agent-${id}`,
      role: more.role ?? 'engineer',
      status: more.status ?? 'idle',
      reports_to: more.reportsTo ?? null,
      adapter_type: 'process',
      created_at: at,
      updated_at: at,
    }),
  )
  app.ctx.db.run(
    sql.insertInto('agent_key').values({
      id: uuid(),
      company_id: companyId,
      agent_id: id,
      name: 'test',
      prefix: 'svc_',
      hash: hashKey(key),
      created_at: at,
    }),
  )
  return { id, ask: app.as(key) }
}

/** A company with its CEO, an engineer below it, and an engineer of another company. */
export async function arrangeCompany(app: TestApp) {
  const company = await app.make('POST', '/api/companies', { name: 'Acme' })
  const other = await app.make('POST', '/api/companies', { name: 'Other' })
  const ceo = insertAgent(app, company.id, { name: 'Chief', role: 'ceo' })
  const engineer = insertAgent(app, company.id, { name: 'Eve', reportsTo: ceo.id })
  const stranger = insertAgent(app, other.id, { name: 'Stranger', role: 'ceo' })
  return { company, other, ceo, engineer, stranger }
}

/** Puts an issue into the database. */
export function insertIssue(
  app: TestApp,
  companyId: string,
  more: Partial<Pick<IssueTable, 'project_id' | 'goal_id' | 'title'>> = {},
) {
  const id = uuid()
  const number = app.ctx.db.all(sql.selectFrom('issue').select('id')).length + 1
  const identifier = `ACM-${number}`
  app.ctx.db.run(
    sql.insertInto('issue').values({
      id,
      company_id: companyId,
      issue_number: number,
      identifier,
      title: more.title ?? `Issue ${number}`,
      status: 'todo',
      project_id: more.project_id ?? null,
      goal_id: more.goal_id ?? null,
      created_at: app.ctx.now,
      updated_at: app.ctx.now,
    }),
  )
  return { id, identifier }
}

/** Puts a live run of an agent into the database, and returns its id. */
export function insertLiveRun(app: TestApp, companyId: string, agentId: string): string {
  const wakeId = uuid()
  const id = uuid()
  const at = app.ctx.now
  app.ctx.db.run(
    sql.insertInto('wake').values({
      id: wakeId,
      company_id: companyId,
      agent_id: agentId,
      status: 'claimed',
      reasons: '[]',
      created_at: at,
      updated_at: at,
    }),
  )
  app.ctx.db.run(
    sql.insertInto('run').values({
      id,
      company_id: companyId,
      agent_id: agentId,
      wake_id: wakeId,
      status: 'running',
      source: 'on_demand',
      reasons: '[]',
      adapter_type: 'process',
      created_at: at,
      started_at: at,
    }),
  )
  return id
}
