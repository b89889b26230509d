import { request } from '../../state/api.ts'
import { companies } from '../../state/company.ts'
import type { Agent, Company, Issue } from '../../state/types.ts'

/** The input of the setup page. */
export type Start =
  | { kind: 'agent'; name: string }
  | { kind: 'template'; name: string }
  | { kind: 'package'; url: string }

export interface Founding {
  name: string
  start: Start
  /** An adapter type, which uses its default program, or the built-in demo agent. */
  program: string
  budgetMonthlyCents: number
  issue: { title: string; description: string }
}

export const DEMO = 'demo'

/**
 * Creates the company, configures its agents with the selected program, and assigns the
 * first issue. @returns the address to open
 */
export async function foundCompany(
  want: Founding,
  onStep: (text: string) => void,
): Promise<{ company: Company; issue: Issue | undefined }> {
  onStep('Creating the company')
  const companyId = await create(want)
  const params = { companyId }
  await request('PATCH /api/companies/:companyId/budgets', {
    params,
    body: { budgetMonthlyCents: want.budgetMonthlyCents },
  })
  onStep('Setting up the agents')
  const runs =
    want.program === DEMO
      ? await request('POST /api/instance/demo-agent')
      : { adapterType: want.program, adapterConfig: {} }
  if (want.start.kind === 'agent') {
    await request('POST /api/companies/:companyId/agents', {
      params,
      body: { name: want.start.name, role: 'engineer', capabilities: 'Works on all issues.', ...runs },
    })
  } else {
    const imported = await request('GET /api/companies/:companyId/agents', { params })
    for (const agent of imported) {
      await request('PATCH /api/agents/:agentId', { params: { agentId: agent.id }, body: runs })
    }
  }
  const company = await request('GET /api/companies/:companyId', { params })
  companies.put(company)
  if (want.issue.title === '') return { company, issue: undefined }
  onStep('Writing the first issue')
  const staff = await request('GET /api/companies/:companyId/agents', { params })
  const worker = workerOf(staff)
  const issue = await request('POST /api/companies/:companyId/issues', {
    params,
    body: {
      title: want.issue.title,
      ...(want.issue.description !== '' && { description: want.issue.description }),
      ...(worker && { assigneeAgentId: worker.id }),
    },
  })
  return { company, issue }
}

async function create({ name, start }: Founding): Promise<string> {
  if (start.kind === 'agent') return (await request('POST /api/companies', { body: { name } })).id
  const source =
    start.kind === 'template'
      ? { type: 'template' as const, name: start.name }
      : { type: 'github' as const, url: start.url }
  const plan = await request('POST /api/companies/import/apply', {
    body: { source, target: { mode: 'new_company', newCompanyName: name } },
  })
  return plan.target.companyId!
}

/**
 * Chooses the agent of the first issue. It prefers agents that are neither the CEO, whose
 * plan needs approval first, nor a manager.
 */
function workerOf(staff: readonly Agent[]): Agent | undefined {
  const isManager = (agent: Agent) => staff.some(({ reportsTo }) => reportsTo === agent.id)
  return staff.find((agent) => agent.role !== 'ceo' && !isManager(agent)) ?? staff[0]
}
