import type { Comment, Issue } from './api.ts'
import { commentsOf, issuesOf, type Shift, sayOnce } from './shift.ts'

/**
 * Replies to the mentions of this agent that have no reply yet. Every agent
 * replies to the board; only a researcher also replies to questions of agents.
 * If all agents replied to each other, they would never stop.
 */
export async function answerQuestions(shift: Shift): Promise<void> {
  for (const issue of await issuesThatMayAsk(shift)) {
    const question = openQuestion(shift, await commentsOf(shift, issue))
    if (question) await sayOnce(shift, issue, answerTo(shift, issue, question))
  }
}

/** Returns the issue of the wake; for a researcher all open issues, because several mentions may share one wake. */
async function issuesThatMayAsk(shift: Shift): Promise<Issue[]> {
  const { api, me, env } = shift
  const woken = env.SERVICE_TASK_ID
    ? [await api.request('GET /api/issues/:issueId', { params: { issueId: env.SERVICE_TASK_ID } })]
    : []
  if (me.role !== 'researcher') return woken
  const blocked = await issuesOf(shift, { status: 'blocked' })
  return [...woken, ...blocked.filter((issue) => issue.id !== env.SERVICE_TASK_ID)]
}

/** Returns the last comment that mentions this agent, if the agent has not commented after it. */
function openQuestion({ me }: Shift, comments: Comment[]): Comment | undefined {
  const mention = `@${me.name}`.toLowerCase()
  const isResearcher = me.role === 'researcher'
  const last = comments.findLastIndex(
    ({ authorAgentId, authorUserId, body }) =>
      body.toLowerCase().includes(mention) &&
      (authorUserId !== null || (isResearcher && authorAgentId !== me.id && body.includes('?'))),
  )
  const answered = comments.slice(last + 1).some((comment) => comment.authorAgentId === me.id)
  return last < 0 || answered ? undefined : comments[last]
}

function answerTo({ me, team }: Shift, issue: Issue, question: Comment): string {
  const asker = team.find((agent) => agent.id === question.authorAgentId)
  const asked = /[^.!?\n]*\?/.exec(question.body.replace(`@${me.name}`, ''))?.[0].trim()
  const to = asker ? `${asker.name}, ` : ''
  return asked
    ? `${to}I looked it up: “${asked}” has its answer in the public tables, and the usual choice holds here.`
    : `${to}I have read this; ${issue.identifier} is ${issue.status.replaceAll('_', ' ')}.`
}
