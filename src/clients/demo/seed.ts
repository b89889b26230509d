import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { writeAgentProgram } from '../../runtime/programs/demo-agent.ts'
import { createClient } from '../connection/client.ts'
import { COMPANY, GOAL, PROJECT, ROOT_ISSUE, TEAM } from './company.ts'

export interface DemoCompany {
  id: string
  name: string
}

export interface Seed {
  /** The data directory of the server. */
  url: string
  dataDir: string
}

/** The duration of one piece of work, in milliseconds: slow enough to watch. */
const PACE_MS = 300

/**
 * A short interval, so that work continues within seconds after a server was
 * killed. The scheduler skips timer runs if nothing has changed, so a finished
 * company causes no runs.
 */
const HEARTBEAT = { enabled: true, intervalSec: 5, skipIfIdle: true }

/**
 * Creates the demo company through the API, as the board. Its CEO has an issue
 * from the start, and first requests the approval of its strategy.
 *
 * @returns the company, or undefined if the server already has a company; nothing is created then
 */
export async function seedDemoCompany({ url, dataDir }: Seed): Promise<DemoCompany | undefined> {
  const board = createClient({ url })
  const command = writeAgentProgram(dataDir)
  if ((await board.request('GET /api/companies')).length > 0) return undefined

  const company = await board.request('POST /api/companies', { body: COMPANY })
  const params = { companyId: company.id }
  const goal = await board.request('POST /api/companies/:companyId/goals', { params, body: GOAL })
  const workspace = path.join(dataDir, 'workspace')
  mkdirSync(workspace, { recursive: true })
  const project = await board.request('POST /api/companies/:companyId/projects', {
    params,
    body: { ...PROJECT, goalIds: [goal.id], workspace: { name: 'Workspace', cwd: workspace } },
  })

  const ids = new Map<string | null, string>()
  for (const member of TEAM) {
    const agent = await board.request('POST /api/companies/:companyId/agents', {
      params,
      body: {
        ...member,
        reportsTo: ids.get(member.reportsTo) ?? null,
        adapterType: 'runtimeA_local',
        adapterConfig: { command, extraArgs: ['--pace', String(PACE_MS)] },
        runtimeConfig: { heartbeat: HEARTBEAT },
        budgetMonthlyCents: 1_000,
      },
    })
    ids.set(member.name, agent.id)
  }
  await board.request('POST /api/companies/:companyId/issues', {
    params,
    body: { ...ROOT_ISSUE, assigneeAgentId: ids.get(TEAM[0]!.name), projectId: project.id, goalId: goal.id },
  })
  return company
}
