import type { Received } from './api.ts'
import { bootRecord } from './boot-record.ts'

/** The responses in the HTML of the page, which every page needs at its start. */
interface Given {
  companies: Received<'GET /api/companies'>
  session: Received<'GET /api/auth/session'>
  instance: Received<'GET /api/instance'>
  /** The responses for the company in the address. */
  company?: {
    id: string
    agents: Received<'GET /api/companies/:companyId/agents'>
    projects: Received<'GET /api/companies/:companyId/projects'>
    goals: Received<'GET /api/companies/:companyId/goals'>
    labels: Received<'GET /api/companies/:companyId/labels'>
    members: Received<'GET /api/companies/:companyId/members'>
    runs: Received<'GET /api/companies/:companyId/live-runs'>
    inbox: Received<'GET /api/inbox'>
    approvals: Received<'GET /api/companies/:companyId/approvals'>
  }
}

/** The responses in the HTML; undefined if an endpoint returned an error. */
export const given = bootRecord as Given | undefined

const taken = new Set<string>()

/** @returns the responses for a company, once for each consumer, because they become stale */
export function takeGiven(companyId: string, reader: 'lists' | 'inbox'): Given['company'] {
  if (taken.has(reader) || given?.company?.id !== companyId) return undefined
  taken.add(reader)
  return given.company
}
