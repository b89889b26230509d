import type { Received } from './api.ts'
import { bootRecord } from './boot-record.ts'

/** What the page's HTML brings along: the responses with which every page begins. */
interface Given {
  companies: Received<'GET /api/companies'>
  session: Received<'GET /api/auth/session'>
  instance: Received<'GET /api/instance'>
  /** Of the company that the address names. */
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

/** What the HTML brought; undefined if the server refused some of it. */
export const given = bootRecord as Given | undefined

const taken = new Set<string>()

/** @returns what the HTML brought of a company, once for each reader: later it is old */
export function takeGiven(companyId: string, reader: 'lists' | 'inbox'): Given['company'] {
  if (taken.has(reader) || given?.company?.id !== companyId) return undefined
  taken.add(reader)
  return given.company
}
