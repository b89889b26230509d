import { AppError } from '../../platform/errors.ts'
import type { BodyOf, QueryOf } from '../client/types.ts'
import type { Agent, Api, Comment, Issue } from './api.ts'

/** The environment variables of the run. */
export type Environment = Record<string, string | undefined>

/** The context of one heartbeat. */
export interface Shift {
  api: Api
  me: Agent
  /** The agents of the company that can work, including this one. */
  team: Agent[]
  env: Environment
  /** The duration of one piece of work, in milliseconds. */
  pace: number
  say(text: string): void
}

/** The signature of each comment. */
const SIGNATURE = '\n\n*demo agent*'

export const signed = (body: string): string => body + SIGNATURE

const ORDER = ['in_progress', 'todo', 'blocked']

/** Lists issues of the company. */
export const issuesOf = ({ api, me }: Shift, query: IssueFilter): Promise<Issue[]> =>
  api.request('GET /api/companies/:companyId/issues', { params: { companyId: me.companyId }, query })

type IssueFilter = Omit<QueryOf<'GET /api/companies/:companyId/issues'>, 'limit'> & { limit?: number }

/** Lists the agent's own open issues: that of the wake first, then those in progress. */
export async function myIssues(shift: Shift): Promise<Issue[]> {
  const { me, env } = shift
  const issues = await issuesOf(shift, { assigneeAgentId: me.id, status: ORDER.join(',') })
  const rank = (issue: Issue) => (issue.id === env.SERVICE_TASK_ID ? -1 : ORDER.indexOf(issue.status))
  return issues.toSorted((a, b) => rank(a) - rank(b))
}

/** Checks out an issue. Returns undefined if another agent has it; that is not retried. */
export async function checkOut({ api, me, say }: Shift, issue: Issue): Promise<Issue | undefined> {
  try {
    const taken = await api.request('POST /api/issues/:issueId/checkout', {
      params: { issueId: issue.id },
      body: { agentId: me.id, expectedStatuses: ['todo', 'in_progress', 'blocked', 'in_review'] },
    })
    if (issue.status !== 'in_progress') say(`Checked out ${issue.identifier}: ${issue.title}`)
    return taken
  } catch (error) {
    if (!(error instanceof AppError) || (error.status !== 409 && error.status !== 422)) throw error
    say(`Not ${issue.identifier}: ${error.message}`)
    return undefined
  }
}

type Status = NonNullable<BodyOf<'PATCH /api/issues/:issueId'>['status']>

/** Changes the status of an issue, with a comment in the same request. */
export async function move({ api, say }: Shift, issue: Issue, status: Status, why: string): Promise<void> {
  await api.request('PATCH /api/issues/:issueId', {
    params: { issueId: issue.id },
    body: { status, comment: signed(why) },
  })
  say(`${issue.identifier} is ${status.replaceAll('_', ' ')}: ${why}`)
}

export const commentsOf = ({ api }: Shift, issue: { id: string }): Promise<Comment[]> =>
  api.request('GET /api/issues/:issueId/comments', { params: { issueId: issue.id } })

/** Comments on an issue, unless an earlier heartbeat wrote the same comment. */
export async function sayOnce(shift: Shift, issue: Pick<Issue, 'id' | 'identifier'>, body: string): Promise<void> {
  const printed = (await commentsOf(shift, issue)).some(
    (comment) => comment.authorAgentId === shift.me.id && comment.body === signed(body),
  )
  if (printed) return
  await shift.api.request('POST /api/issues/:issueId/comments', {
    params: { issueId: issue.id },
    body: { body: signed(body) },
  })
  shift.say(`On ${issue.identifier}: ${body}`)
}
