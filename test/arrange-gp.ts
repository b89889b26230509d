import type { AgentTable, IssueTable } from '../src/database/tables.ts'
import * as rows from './arrange.ts'
import type { TestApp } from './helpers.ts'

/** Rows by what the API calls them; see arrange.ts. */

export function insertAgent(
  app: TestApp,
  companyId: string,
  more: { name?: string; role?: string; reportsTo?: string; status?: AgentTable['status']['__select__'] } = {},
): rows.TestAgent {
  const { name = 'Ada', reportsTo = null, ...other } = more
  return rows.insertAgent(app, { ...other, name, company_id: companyId, reports_to: reportsTo })
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

export const insertIssue = (
  app: TestApp,
  companyId: string,
  more: Partial<Pick<IssueTable, 'project_id' | 'goal_id' | 'title'>> = {},
) => rows.insertIssue(app.ctx, { ...more, company_id: companyId })

/** @returns the run's id */
export const insertLiveRun = (app: TestApp, companyId: string, agentId: string): string =>
  rows.insertRunRow(app.ctx, { id: agentId, company_id: companyId })
