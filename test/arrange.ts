import { randomBytes } from 'node:crypto'
import type { Insertable } from 'kysely'
import { v7 as uuid } from 'uuid'
import type { AgentRow } from '../src/organization/agent/agent.ts'
import { findAgent } from '../src/organization/agent/queries.ts'
import { listLiveRuns } from '../src/organization/run/queries.ts'
import type { WakeReason } from '../src/organization/wake/wake.ts'
import type { Context } from '../src/platform/context.ts'
import { hashCredential } from '../src/platform/credential.ts'
import { raw, sql } from '../src/platform/database/sql.ts'
import type {
  AgentKeyTable,
  AgentTable,
  GoalTable,
  IssueTable,
  ProjectTable,
  RunTable,
  WorkspaceTable,
} from '../src/platform/database/tables.ts'
import { ISSUE_STATUSES } from '../src/work/issue/lifecycle.ts'
import type { SendRequest, TestApp, TestServices } from './helpers.ts'

/** The row of an agent, with a function that sends requests with its key. */
export interface TestAgent extends AgentRow {
  request: SendRequest
}

/** Inserts a company. @returns its id */
export function insertCompany(ctx: Context, name = 'Acme'): string {
  const id = uuid()
  const row = { id, name, issue_prefix: id.slice(-12).toUpperCase(), created_at: ctx.now, updated_at: ctx.now }
  ctx.db.run(sql.insertInto('company').values(row))
  return id
}

/** Inserts an agent with a key. */
export function insertAgent(
  { ctx, as }: Pick<TestApp, 'ctx' | 'as'>,
  values: Partial<Insertable<AgentTable>> & { company_id: string },
): TestAgent {
  const row = insertAgentRow(ctx, values)
  return { ...row, request: as(insertKey(ctx, row).key) }
}

/** Inserts an agent without a key. */
export function insertAgentRow(
  ctx: Context,
  values: Partial<Insertable<AgentTable>> & { company_id: string },
): AgentRow {
  const id = uuid()
  return ctx.db.first(
    sql
      .insertInto('agent')
      .values({
        id,
        name: `Agent ${id.slice(-4)}`,
        url_key: id,
        role: 'engineer',
        adapter_type: 'process',
        created_at: ctx.now,
        updated_at: ctx.now,
        ...values,
      })
      .returningAll(),
  )!
}

/** Inserts an agent key, last used now by default. @returns its id and the key itself */
export function insertKey(
  ctx: Context,
  agent: { id: string },
  values: Partial<Insertable<AgentKeyTable>> = {},
): { id: string; key: string } {
  const id = uuid()
  const key = `svc_${randomBytes(16).toString('hex')}`
  ctx.db.run(
    sql.insertInto('agent_key').values({
      id,
      company_id: companyOf(ctx, agent),
      agent_id: agent.id,
      name: 'test',
      prefix: key.slice(0, 8),
      hash: hashCredential(key),
      created_at: ctx.now,
      last_used_at: ctx.now,
      ...values,
    }),
  )
  return { id, key }
}

const companyOf = (ctx: Context, agent: { id: string }) => findAgent(ctx.db, agent)!.company_id

/** Inserts a run of an agent, live by default. @returns its id, and a function that sends requests with its token */
export async function insertRun(
  { ctx, as }: Pick<TestApp, 'ctx' | 'as'>,
  agent: { id: string },
  values: Partial<Insertable<RunTable>> = {},
): Promise<{ id: string; request: SendRequest }> {
  const id = insertRunRow(ctx, agent, values)
  return { id, request: as(await signRun(ctx, agent, id)) }
}

/** Returns a function that sends requests as an agent, with the token of a live run. */
export async function asAgent(app: Pick<TestApp, 'ctx' | 'as'>, agent: { id: string }): Promise<SendRequest> {
  const live = listLiveRuns(app.ctx.db, { agentId: agent.id })[0]
  return live ? app.as(await signRun(app.ctx, agent, live.id)) : (await insertRun(app, agent)).request
}

const signRun = (ctx: TestServices, agent: { id: string }, id: string) =>
  ctx.tokens.sign({ id, agentId: agent.id, companyId: companyOf(ctx, agent) })

/** Inserts a run of an agent, live by default. @returns its id */
export function insertRunRow(ctx: Context, agent: { id: string }, values: Partial<Insertable<RunTable>> = {}): string {
  const id = uuid()
  const wakeId = uuid()
  const common = { company_id: companyOf(ctx, agent), agent_id: agent.id, created_at: ctx.now }
  ctx.db.run(
    sql.insertInto('wake').values({ ...common, id: wakeId, status: 'claimed', reasons: '[]', updated_at: ctx.now }),
  )
  ctx.db.run(
    sql.insertInto('run').values({
      ...common,
      id,
      wake_id: wakeId,
      status: 'running',
      source: 'on_demand',
      reasons: '[]',
      adapter_type: 'process',
      started_at: ctx.now,
      ...values,
    }),
  )
  return id
}

/** Inserts an issue. The server never generates its identifier prefix. @returns its id and identifier */
export function insertIssue(
  ctx: Context,
  values: Partial<Insertable<IssueTable>> & { company_id: string },
): { id: string; seq: number; identifier: string } {
  const id = uuid()
  const number = ctx.db.all(sql.selectFrom('issue').select('id')).length + 1
  const row = {
    id,
    issue_number: number,
    identifier: `ROW-${number}`,
    title: `Issue ${number}`,
    status: 'todo' as const,
    created_at: ctx.now,
    updated_at: ctx.now,
    ...values,
  }
  const seq = ctx.db.insert(sql.insertInto('issue').values(row))
  return { id, seq, identifier: row.identifier }
}

/** Inserts many issues of an agent with one SQL statement. Their statuses alternate; their titles are equal. */
export function insertManyIssues(ctx: Context, agent: { id: string; company_id: string }, n: number): void {
  const statuses = JSON.stringify(ISSUE_STATUSES)
  ctx.db.run(
    raw`insert into issue (id, company_id, issue_number, identifier, title, status, assignee_agent_id, completed_at, cancelled_at, created_at, updated_at)
      with recursive number(n) as (select 1 union all select n + 1 from number where n < ${n}),
        one(n, status) as (select n, json_extract(${statuses}, '$[' || (n % json_array_length(${statuses})) || ']') from number)
      select ${uuid().slice(0, 24)} || printf('%012x', n), ${agent.company_id}, n, 'BIG-' || n, 'Issue', status, ${agent.id},
        iif(status = 'done', ${ctx.now}, null), iif(status = 'cancelled', ${ctx.now}, null), ${ctx.now}, ${ctx.now}
      from one`.compile(sql),
  )
}

/** Returns the reasons of the waiting wake of an agent, oldest first, or an empty list. */
export function wakeReasons(ctx: Context, agent: { id: string }): WakeReason[] {
  const wake = ctx.db.first(
    sql.selectFrom('wake').select('reasons').where('agent_id', '=', agent.id).where('status', '=', 'waiting'),
  )
  return wake ? JSON.parse(wake.reasons) : []
}

/** Deletes all waiting wakes, so a test sees only later ones. */
export const forgetWakes = (ctx: Context) => ctx.db.run(sql.deleteFrom('wake').where('status', '=', 'waiting'))

/** Records a cost of an agent in cents, at the current time. */
export function insertSpend(ctx: Context, agent: { id: string }, cents: number): void {
  ctx.db.run(
    sql.insertInto('cost_event').values({
      id: uuid(),
      company_id: companyOf(ctx, agent),
      agent_id: agent.id,
      provider: 'test',
      model: 'test',
      cost_micros: cents * 10_000,
      cost_status: 'reported',
      occurred_at: ctx.now,
      created_at: ctx.now,
    }),
  )
}

/** Inserts a goal. @returns its id */
export function insertGoal(ctx: Context, values: Partial<Insertable<GoalTable>> & { company_id: string }): string {
  const id = uuid()
  ctx.db.run(sql.insertInto('goal').values({ id, title: 'Goal', created_at: ctx.now, updated_at: ctx.now, ...values }))
  return id
}

/** Inserts a project. @returns its id */
export function insertProject(
  ctx: Context,
  values: Partial<Insertable<ProjectTable>> & { company_id: string },
): string {
  const id = uuid()
  const row = { id, name: 'Project', url_key: id, created_at: ctx.now, updated_at: ctx.now, ...values }
  ctx.db.run(sql.insertInto('project').values(row))
  return id
}

/** Inserts a workspace of a project. @returns its id */
export function insertWorkspace(
  ctx: Context,
  values: Partial<Insertable<WorkspaceTable>> & { company_id: string; project_id: string },
): string {
  const id = uuid()
  const row = {
    id,
    name: 'Code',
    cwd: '/code',
    is_primary: 0 as const,
    created_at: ctx.now,
    updated_at: ctx.now,
    ...values,
  }
  ctx.db.run(sql.insertInto('workspace').values(row))
  return id
}
