import type { Agent, Issue } from './api.ts'
import { type Part, partsOf, usualParts } from './outline.ts'
import { checkOut, issuesOf, move, myIssues, type Shift, sayOnce } from './shift.ts'

/**
 * Performs the work of a CEO or manager: reviews the issues of its reports,
 * splits its own issues among them, and finishes each when all its parts are
 * done. It repeats this until nothing changes, because its own changes do not
 * wake it.
 */
export async function lead(shift: Shift): Promise<void> {
  let changed: boolean
  do {
    changed = await review(shift)
    for (const issue of await myIssues(shift)) changed = (await advance(shift, issue)) || changed
  } while (changed)
}

const reportsOf = ({ me, team }: Shift) => team.filter((agent) => agent.reportsTo === me.id)

/** Reviews the issues in review. Returns whether there were any. */
async function review(shift: Shift): Promise<boolean> {
  const reports = new Map(reportsOf(shift).map((agent) => [agent.id, agent]))
  const waiting = await issuesOf(shift, { status: 'in_review' })
  const mine = waiting.filter((issue) => issue.assigneeAgentId !== null && reports.has(issue.assigneeAgentId))
  for (const issue of mine) {
    const author = reports.get(issue.assigneeAgentId!)!
    await move(shift, issue, 'done', `Reviewed and accepted. Thank you, ${author.name}.`)
  }
  return mine.length > 0
}

/** Advances one of the agent's own issues. Returns whether anything changed. */
async function advance(shift: Shift, issue: Issue): Promise<boolean> {
  const parts = partsFor(shift, issue)
  const children = await childrenOf(shift, issue)
  const missing = parts.filter((part) => !children.some((child) => child.title === part.title))
  const open = children.filter((child) => child.status !== 'done' && child.status !== 'cancelled')
  if (missing.length === 0 && open.length > 0 && issue.status === 'blocked') return false
  const taken = await checkOut(shift, issue)
  if (!taken) return false
  if (missing.length > 0) await delegate(shift, issue, parts, missing)
  if (missing.length > 0 || open.length > 0) {
    await move(shift, issue, 'blocked', `Waiting for ${missing.length + open.length} parts of ${parts.length}.`)
  } else {
    await move(shift, issue, 'done', summaryOf(children))
  }
  return true
}

function partsFor(shift: Shift, issue: Issue): Part[] {
  const parts = partsOf(issue.description ?? '')
  return parts.length > 0 ? parts : usualParts(issue.title, new Set(reportsOf(shift).map((agent) => agent.role)))
}

async function childrenOf(shift: Shift, issue: Issue): Promise<Issue[]> {
  const all = await issuesOf(shift, { parentId: issue.id, limit: 1000 })
  return all.filter((child) => child.parentId === issue.id)
}

/** Creates the missing parts, assigns them to the reports in turn, and mentions each assignee. */
async function delegate(shift: Shift, issue: Issue, parts: Part[], missing: Part[]): Promise<void> {
  const { api, me, say } = shift
  const owners = new Map(parts.map((part) => [part, ownerOf(shift, parts, part)]))
  for (const part of missing) {
    const body = {
      title: part.title,
      description: part.description || null,
      status: 'todo' as const,
      priority: issue.priority,
      assigneeAgentId: owners.get(part)!.id,
      parentId: issue.id,
      projectId: issue.projectId,
      goalId: issue.goalId,
    }
    // The same key for the same part: if the agent is killed and repeats the request, the part is still one issue.
    await api.request('POST /api/companies/:companyId/issues', {
      params: { companyId: me.companyId },
      body,
      headers: { 'idempotency-key': `demo-${issue.id}-${parts.indexOf(part)}` },
    })
    say(`Gave ${part.title} to ${owners.get(part)!.name}`)
  }
  const names = [...new Set([...owners.values()].map((agent) => `@${agent.name}`))]
  await sayOnce(shift, issue, `${names.join(' ')} I have split this into ${parts.length} issues; each of you has some.`)
}

function ownerOf(shift: Shift, parts: Part[], part: Part): Agent {
  const reports = reportsOf(shift)
  const able = reports.filter((agent) => agent.role === part.role)
  const owners = able.length > 0 ? able : reports
  const turn = parts.filter((other) => other.role === part.role).indexOf(part)
  return owners[turn % owners.length]!
}

const summaryOf = (children: Issue[]) =>
  `All parts are done:\n${children
    .map((child) => `- ${child.identifier} ${child.title}`)
    .toSorted()
    .join('\n')}`
