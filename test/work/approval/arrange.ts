import { v7 as uuid } from 'uuid'
import { findAgent } from '../../../src/organization/agent/queries.ts'
import { findWaitingWake } from '../../../src/organization/wake/queries.ts'
import { sql } from '../../../src/platform/database/sql.ts'
import type { ApprovalStatus } from '../../../src/work/approval/lifecycle.ts'
import { insertAgent } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'
import { arrangeCompany } from '../../make.ts'

export async function arrange(t: Parameters<typeof createTestApp>[0]) {
  const app = createTestApp(t)
  const people = await arrangeCompany(app)
  const { company, ceo } = people
  const path = `/api/companies/${company.id}/approvals`
  const strategy = async (more: object = {}) =>
    (await ceo.request('POST', path, { type: 'approve_ceo_strategy', payload: { plan: 'Grow' }, ...more })).body
  /** Creates a pending agent and the hire approval that the CEO requests for it. */
  const hire = async (payload: object = {}, adapterConfig: object = {}) => {
    const agent = insertAgent(app, {
      company_id: company.id,
      name: 'New',
      status: 'pending_approval',
      reports_to: ceo.id,
    })
    const columns = { adapter_config: JSON.stringify(adapterConfig) }
    app.ctx.db.run(sql.updateTable('agent').set(columns).where('id', '=', agent.id))
    const response = await ceo.request('POST', path, { type: 'hire_agent', payload: { agentId: agent.id, ...payload } })
    return { agent, approval: response.body }
  }
  const statusOf = (agent: { id: string }) => findAgent(app.ctx.db, { id: agent.id })!.status
  const wakeOf = (agent: { id: string }) => {
    const wake = findWaitingWake(app.ctx.db, { agentId: agent.id })
    return wake && { ...wake, reasons: JSON.parse(wake.reasons) }
  }
  const decide = (approval: { id: string }, verb: string, body?: object) =>
    app.request('POST', `/api/approvals/${approval.id}/${verb}`, body)
  return { ...app, ...people, app, path, strategy, hire, statusOf, wakeOf, decide }
}

/** Inserts a strategy approval with the given status, and returns its id. */
export function insertApproval(app: ReturnType<typeof createTestApp>, companyId: string, status: ApprovalStatus) {
  const id = uuid()
  const at = app.ctx.now
  app.ctx.db.run(
    sql.insertInto('approval').values({
      id,
      company_id: companyId,
      type: 'approve_ceo_strategy',
      status,
      payload: '{"plan":"Grow"}',
      decided_at: at,
      created_at: at,
      updated_at: at,
    }),
  )
  return { id }
}
