import { actorOf, type Caller } from '../../access/caller/caller.ts'
import { getReferredAgent } from '../../organization/agent/references.ts'
import type { Context } from '../../platform/context.ts'
import { invalid, notFound, unprocessable } from '../../platform/errors.ts'
import { uuid } from '../../platform/uuid.ts'
import { getIssue } from '../issue/get.ts'
import { touchIssue } from '../issue/queries.ts'
import { recordIssue } from '../issue/record.ts'
import type { Asked, InteractionRow, NewInteraction } from './interaction.ts'
import { findInteraction, insertInteraction } from './queries.ts'

/** Creates a question for people on an issue. It remains in their inbox until one of them answers it. */
export function askPeople(ctx: Context, caller: Caller, issueRef: string, want: NewInteraction): InteractionRow {
  const issue = getIssue(ctx, caller, issueRef)
  const actor = actorOf(caller)
  const interaction = insertInteraction(ctx.db, {
    id: uuid(),
    company_id: issue.company_id,
    issue_id: issue.id,
    kind: want.kind,
    asked: JSON.stringify(toAsked(ctx, issue.company_id, want)),
    created_by_agent_id: actor.type === 'agent' ? actor.id : null,
    created_by_user_id: actor.type === 'user' ? actor.id : null,
    created_by_run_id: caller.type === 'agent' ? caller.runId : null,
    created_at: ctx.now,
    updated_at: ctx.now,
  })
  touchIssue(ctx.db, { id: issue.id, at: ctx.now })
  recordIssue(ctx, caller, 'issue.interaction_created', issue, {
    interactionId: interaction.id,
    kind: want.kind,
    title: want.title,
  })
  return interaction
}

/** Gets an interaction of an issue. @throws AppError 404 */
export function getInteraction(ctx: Context, caller: Caller, issueRef: string, id: string): InteractionRow {
  const found = findInteraction(ctx.db, { issueId: getIssue(ctx, caller, issueRef).id, id })
  if (!found) throw notFound('interaction', id, 'This issue')
  return found
}

/** The fields that exactly one kind requires. */
const REQUIRED = { choose: 'options', suggest_tasks: 'tasks' } as const

function toAsked(ctx: Context, companyId: string, want: NewInteraction): Asked {
  for (const [kind, field] of Object.entries(REQUIRED)) {
    if (want.kind === kind && want[field] === undefined) throw invalid([{ path: field, message: 'is required' }])
    if (want.kind !== kind && want[field] !== undefined) throw unprocessable(field, `is only for the kind ${kind}`)
  }
  const options = (want.options ?? []).map((option, index) => ({
    id: (typeof option === 'object' ? option.id : undefined) ?? String(index + 1),
    label: typeof option === 'string' ? option : option.label,
    description: typeof option === 'string' ? null : (option.description ?? null),
  }))
  const recommended = options.find(({ label }) => label === want.recommended)
  if (want.recommended && !recommended) throw unprocessable('recommended', 'must be the label of an option')
  const tasks = (want.tasks ?? []).map((task, index) => ({
    id: task.id ?? String(index + 1),
    title: task.title,
    description: task.description ?? null,
    priority: task.priority,
    assigneeAgentId: task.assigneeAgentId
      ? getReferredAgent(ctx, companyId, `tasks.${index}.assigneeAgentId`, task.assigneeAgentId).id
      : null,
  }))
  assertDifferentIds('options', options)
  assertDifferentIds('tasks', tasks)
  return {
    title: want.title,
    question: want.question ?? null,
    options,
    multiple: want.multiple ?? false,
    recommended: recommended?.id ?? null,
    tasks,
  }
}

function assertDifferentIds(field: string, all: readonly { id: string }[]): void {
  if (new Set(all.map(({ id }) => id)).size < all.length) throw unprocessable(field, 'must have different ids')
}
