import type { Caller } from '../../access/caller/caller.ts'
import { requestWake } from '../../organization/agent/request-wake.ts'
import type { Context } from '../../platform/context.ts'
import { AppError, forbidden, invalid, unprocessable } from '../../platform/errors.ts'
import { addComment } from '../issue/comment.ts'
import { createIssue } from '../issue/create.ts'
import { getIssue } from '../issue/get.ts'
import type { IssueRow } from '../issue/issue.ts'
import { touchIssue } from '../issue/queries.ts'
import { recordIssue } from '../issue/record.ts'
import { getInteraction } from './ask.ts'
import { type AnswerBody, type Interaction, type InteractionRow, toInteraction } from './interaction.ts'
import { updateInteraction } from './queries.ts'

/**
 * Answers an interaction. The answer becomes a comment on the issue, which
 * wakes the agent that asked and the issue's assignee. Accepted tasks become
 * sub-issues. Answering it again is a conflict.
 */
export function answerInteraction(
  ctx: Context,
  caller: Caller,
  issueRef: string,
  id: string,
  body: AnswerBody,
): InteractionRow {
  const row = getInteraction(ctx, caller, issueRef, id)
  assertPending(row)
  const issue = getIssue(ctx, caller, issueRef)
  const asked = toInteraction(row)
  assertAnswers(asked, body)
  const created = createTasks(ctx, caller, issue, asked, body)
  const comment = addComment(ctx, caller, issue, toComment(asked, body, created))
  if (row.created_by_agent_id !== null) {
    requestWake(ctx, caller, {
      agentId: row.created_by_agent_id,
      source: 'issue_commented',
      issueId: issue.id,
      commentId: comment.id,
      priority: issue.priority_rank,
    })
  }
  const answered = updateInteraction(ctx.db, row.id, {
    status: 'answered',
    answer: JSON.stringify({
      text: body.text ?? null,
      confirmed: body.confirmed ?? null,
      selected: body.selected ?? [],
      note: body.note ?? null,
      commentId: comment.id,
      createdIssueIds: created.map((one) => one.id),
    }),
    answered_by_user_id: caller.type === 'board' ? caller.userId : null,
    answered_at: ctx.now,
    updated_at: ctx.now,
  })
  recordIssue(ctx, caller, 'issue.interaction_answered', issue, {
    interactionId: row.id,
    kind: row.kind,
    title: asked.title,
    commentId: comment.id,
  })
  return answered
}

/** Cancels an interaction. The agent that asked and the board may. */
export function cancelInteraction(ctx: Context, caller: Caller, issueRef: string, id: string): InteractionRow {
  const row = getInteraction(ctx, caller, issueRef, id)
  if (caller.type === 'agent' && row.created_by_agent_id !== caller.agentId) {
    throw forbidden('Only the agent that created an interaction, and the board, may cancel it.')
  }
  if (row.status === 'cancelled') return row
  assertPending(row)
  const issue = getIssue(ctx, caller, issueRef)
  touchIssue(ctx.db, { id: issue.id, at: ctx.now })
  recordIssue(ctx, caller, 'issue.interaction_cancelled', issue, {
    interactionId: row.id,
    kind: row.kind,
    title: toInteraction(row).title,
  })
  return updateInteraction(ctx.db, row.id, { status: 'cancelled', updated_at: ctx.now })
}

function assertPending(row: InteractionRow): void {
  if (row.status === 'pending') return
  throw new AppError('conflict', `This interaction is already ${row.status}.`, { status: row.status })
}

const FIELD_OF = { question: 'text', confirm: 'confirmed', choose: 'selected', suggest_tasks: 'selected' } as const

function assertAnswers({ kind, options, tasks, multiple }: Interaction, body: AnswerBody): void {
  const wanted = FIELD_OF[kind]
  if (body[wanted] === undefined)
    throw invalid([{ path: wanted, message: `is required, since the question is of the kind ${kind}` }])
  for (const other of ['text', 'confirmed', 'selected'] as const) {
    if (other !== wanted && body[other] !== undefined) throw unprocessable(other, `is not valid for the kind ${kind}`)
  }
  if (wanted !== 'selected') return
  const known = [...options, ...tasks].map((one) => one.id)
  body.selected!.forEach((id, index) => {
    if (!known.includes(id)) throw unprocessable(`selected.${index}`, `must be one of ${known.join(', ')}`)
  })
  if (kind !== 'choose') return
  if (body.selected!.length === 0) throw unprocessable('selected', 'must name an option')
  if (!multiple && new Set(body.selected).size > 1) throw unprocessable('selected', 'must name one option only')
}

/** Creates the accepted tasks as sub-issues, with the accepting person as their creator. Their assignees are woken. */
const createTasks = (ctx: Context, caller: Caller, issue: IssueRow, { tasks }: Interaction, { selected }: AnswerBody) =>
  tasks
    .filter((task) => selected?.includes(task.id))
    .map(({ id: _, ...task }) => createIssue(ctx, caller, issue.company_id, { ...task, parentId: issue.id }))

/** Formats the answer as a comment. Escapes each `@` of the question, so names in it are not mentions. */
function toComment(asked: Interaction, body: AnswerBody, created: readonly IssueRow[]): string {
  const chosen = asked.options.filter(({ id }) => body.selected?.includes(id)).map(({ label }) => quote(label))
  const answer = {
    question: body.text,
    confirm: body.confirmed ? 'Yes.' : 'No.',
    choose: `${chosen.join(', ')}.`,
    suggest_tasks:
      created.length === 0
        ? 'None of the tasks is accepted.'
        : `Accepted: ${created.map((one) => one.identifier).join(', ')}.`,
  }[asked.kind]
  return [`**${quote(asked.title)}**`, answer, body.note?.trim()].filter(Boolean).join('\n\n')
}

const quote = (text: string) => text.replaceAll('@', '\\@')
