import { v7 as uuid } from 'uuid'
import type { Context } from '../../src/context.ts'
import { sql } from '../../src/database/sql.ts'
import { hashKey } from '../../src/http/caller.ts'

/** Rows as a test needs them, inserted straight into the database. */

export function insertCompanyRow(ctx: Context, name = 'Acme'): string {
  const id = uuid()
  const row = { id, name, issue_prefix: id.slice(-12).toUpperCase(), created_at: ctx.now, updated_at: ctx.now }
  ctx.db.run(sql.insertInto('company').values(row))
  return id
}

export function insertAgentRow(
  ctx: Context,
  companyId: string,
  agent: { role?: string; reportsTo?: string } = {},
): string {
  const id = uuid()
  ctx.db.run(
    sql.insertInto('agent').values({
      id,
      company_id: companyId,
      name: 'Ada',
      url_key: id,
      role: agent.role ?? 'engineer',
      reports_to: agent.reportsTo ?? null,
      adapter_type: 'process',
      created_at: ctx.now,
      updated_at: ctx.now,
    }),
  )
  return id
}

/** @returns the key's id, and the key */
export function insertKeyRow(ctx: Context, companyId: string, agentId: string): { id: string; key: string } {
  const id = uuid()
  const key = `svc_${id}`
  ctx.db.run(
    sql.insertInto('agent_key').values({
      id,
      company_id: companyId,
      agent_id: agentId,
      name: 'a key',
      prefix: key.slice(0, 8),
      hash: hashKey(key),
      created_at: ctx.now,
    }),
  )
  return { id, key }
}

/** @returns the id of a run that is under way */
export function insertRunRow(ctx: Context, companyId: string, agentId: string): string {
  const id = uuid()
  const wake = { id: uuid(), company_id: companyId, agent_id: agentId, created_at: ctx.now, updated_at: ctx.now }
  ctx.db.run(sql.insertInto('wake').values({ ...wake, status: 'claimed', reasons: '[]' }))
  ctx.db.run(
    sql.insertInto('run').values({
      id,
      company_id: companyId,
      agent_id: agentId,
      wake_id: wake.id,
      status: 'running',
      source: 'on_demand',
      reasons: '[]',
      adapter_type: 'process',
      created_at: ctx.now,
    }),
  )
  return id
}
