import path from 'node:path'
import { v7 as uuid } from 'uuid'
import { openDatabase } from '../src/platform/database/open.ts'
import { createTextIndexer } from '../src/platform/database/text-index.ts'
import { mergeText } from './seed.ts'

/** One id of each kind of record, from the latest part of the history. */
export interface Ids {
  companyId: string
  agentId: string
  issueId: string
  runId: string
  projectId: string
  goalId: string
}

const AGENTS = 50
const STATUSES = ['done', 'done', 'done', 'done', 'done', 'done', 'done', 'cancelled', 'todo', 'in_progress'] as const
const ACTIONS = ['issue.created', 'issue.checked_out', 'issue.commented', 'issue.updated', 'run.started'] as const

/**
 * Creates a database with two years of a company of 50 agents, up to now. Each
 * issue has two comments, half a run, two costs and five activities.
 */
export function seedHistory(dataDir: string, issues: number): Ids {
  const sqlite = openDatabase(path.join(dataDir, 'service.db'), { backupDir: dataDir, now: new Date() })
  const insert = (table: string, row: Record<string, string | number | null>) => {
    const columns = Object.keys(row)
    const text = `insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`
    const statement = statements.get(text) ?? sqlite.prepare(text)
    statements.set(text, statement)
    statement.run(...Object.values(row))
  }
  const statements = new Map<string, ReturnType<typeof sqlite.prepare>>()
  const end = Date.now()
  const begin = end - 730 * 24 * 3_600_000
  const momentOf = (share: number) => begin + (end - begin) * share
  const idAt = (share: number) => uuid({ msecs: momentOf(share) })
  const company_id = idAt(0)
  const ids: Ids = { companyId: company_id, agentId: '', issueId: '', runId: '', projectId: '', goalId: '' }
  const first = new Date(begin).toISOString()
  const made = { company_id, created_at: first, updated_at: first }
  sqlite.transaction(() => {
    insert('company', {
      id: company_id,
      name: 'Acme',
      issue_prefix: 'ACM',
      issue_counter: issues,
      created_at: first,
      updated_at: first,
    })
    const agents = Array.from({ length: AGENTS }, () => idAt(0))
    for (const [i, id] of agents.entries()) {
      const reports_to = i === 0 ? null : agents[Math.floor((i - 1) / 7)]!
      const agent = { name: `Agent ${i}`, url_key: `agent-${i}`, role: 'engineer', adapter_type: 'process' }
      insert('agent', { ...made, ...agent, id, reports_to, runtime_config: '{"heartbeat":{"wakeOnDemand":false}}' })
    }
    const goals = Array.from({ length: 10 }, () => idAt(0))
    for (const id of goals) insert('goal', { ...made, id, title: 'A goal', level: 'company', status: 'active' })
    const projects = Array.from({ length: 20 }, () => idAt(0))
    for (const [i, id] of projects.entries()) {
      insert('project', { ...made, id, name: `Project ${i}`, url_key: `project-${i}`, status: 'active' })
    }
    const hashes = { previous_hash: 'none', hash: 'none' }
    for (let i = 0; i < issues; i++) {
      const share = i / issues
      const at = new Date(momentOf(share)).toISOString()
      const id = idAt(share)
      const agent_id = agents[i % AGENTS]!
      const project_id = projects[i % projects.length]!
      const goal_id = goals[i % goals.length]!
      // Open issues are recent, as in a company without a backlog.
      const status = share > 0.99 ? STATUSES[i % STATUSES.length]! : 'done'
      insert('issue', {
        id,
        company_id,
        issue_number: i + 1,
        identifier: `ACM-${i + 1}`,
        title: `Issue number ${i + 1}${i % 1_000 === 0 ? ' of the harbour' : ''}`,
        description: 'What is to be done, in a sentence or two, as issues have it.',
        status,
        priority: ['critical', 'high', 'medium', 'low'][i % 4]!,
        assignee_agent_id: agent_id,
        project_id,
        goal_id,
        completed_at: status === 'done' ? at : null,
        cancelled_at: status === 'cancelled' ? at : null,
        created_at: at,
        updated_at: at,
      })
      let run_id: string | null = null
      if (i % 2 === 0) {
        run_id = idAt(share)
        const wake = { id: idAt(share), company_id, agent_id, reasons: '[]', created_at: at, updated_at: at }
        insert('wake', { ...wake, status: 'claimed' })
        insert('run', {
          id: run_id,
          company_id,
          agent_id,
          wake_id: wake.id,
          status: i % 50 === 0 ? 'failed' : 'succeeded',
          source: 'issue_assigned',
          reasons: '[]',
          issue_id: id,
          adapter_type: 'process',
          created_at: at,
          started_at: at,
          finished_at: at,
          idle: 0,
        })
      }
      for (let n = 0; n < 2; n++) {
        const cost = { provider: 'p', model: `m${n}`, input_tokens: 100, output_tokens: 10, cost_micros: 1_234 }
        const costOn = { company_id, agent_id, issue_id: id, project_id, goal_id, run_id, cost_status: 'reported' }
        insert('cost_event', { id: idAt(share), ...costOn, ...cost, occurred_at: at, created_at: at })
        const comment = { author_type: 'agent', author_agent_id: agent_id, body: `Comment ${n}: what was found.` }
        insert('comment', { id: idAt(share), company_id, issue_seq: i + 1, ...comment, created_at: at, updated_at: at })
      }
      for (const action of ACTIONS) {
        const actor = { actor_type: 'agent', actor_id: agent_id, agent_id, run_id }
        const entity = { entity_type: 'issue', entity_id: id }
        insert('activity', { id: idAt(share), company_id, action, ...actor, ...entity, ...hashes, created_at: at })
      }
      Object.assign(ids, { agentId: agent_id, issueId: id, projectId: project_id, goalId: goal_id })
      if (run_id) ids.runId = run_id
    }
    createTextIndexer(sqlite).indexAll()
  })()
  mergeText(sqlite)
  sqlite.close()
  return ids
}
