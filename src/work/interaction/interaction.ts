import type { Selectable } from 'kysely'
import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import type { InteractionTable } from '../../platform/database/tables.ts'
import { commentText } from '../comment/authored.ts'
import { PRIORITIES } from '../issue/issue.ts'
import { fromPayload, KIND_ALIASES, Payload } from './payload.ts'

export type InteractionRow = Selectable<InteractionTable>

export const INTERACTION_KINDS = ['question', 'confirm', 'choose', 'suggest_tasks'] as const
export const INTERACTION_STATUSES = ['pending', 'answered', 'cancelled'] as const

const kind = v.pipe(
  v.picklist(INTERACTION_KINDS),
  v.description(
    'question: the answer is a text; confirm: yes or no; choose: one or several of the options; suggest_tasks: the tasks that are accepted become sub-issues.',
  ),
)

const Option = v.strictObject({
  id: v.pipe(
    v.string(),
    v.description(
      'The id of the option for the answer: `1`, `2`, ... in the order of the request, unless the request has ids.',
    ),
  ),
  label: v.string(),
  description: v.nullable(v.string()),
})

const Task = v.strictObject({
  id: v.pipe(
    v.string(),
    v.description('The id of the task for the answer: `1`, `2`, ... in the order of the request.'),
  ),
  title: v.string(),
  description: v.nullable(v.string()),
  priority: v.picklist(PRIORITIES),
  assigneeAgentId: v.nullable(field.id),
})

const Answer = v.strictObject({
  text: v.pipe(v.nullable(v.string()), v.description('The answer to a question.')),
  confirmed: v.pipe(v.nullable(v.boolean()), v.description('The answer to a confirm.')),
  selected: v.pipe(v.array(v.string()), v.description('The ids of the options or tasks that were chosen.')),
  note: v.nullable(v.string()),
  commentId: v.pipe(field.id, v.description('The comment on the issue that gives the answer.')),
  createdIssueIds: v.pipe(v.array(field.id), v.description('The sub-issues that the accepted tasks became.')),
})

/** A question to people on an issue, as the API returns it. */
export const Interaction = v.strictObject({
  id: field.id,
  companyId: field.id,
  issueId: field.id,
  kind,
  status: v.picklist(INTERACTION_STATUSES),
  title: v.string(),
  question: v.pipe(v.nullable(v.string()), v.description('Markdown.')),
  options: v.pipe(v.array(Option), v.description('Of a choose; empty otherwise.')),
  multiple: v.pipe(v.boolean(), v.description('Whether several options may be chosen.')),
  recommended: v.pipe(v.nullable(v.string()), v.description('The id of the option that the asker recommends.')),
  tasks: v.pipe(v.array(Task), v.description('Of suggest_tasks; empty otherwise.')),
  answer: v.nullable(Answer),
  createdByAgentId: v.nullable(field.id),
  createdByUserId: v.nullable(v.string()),
  createdByRunId: v.nullable(field.id),
  answeredByUserId: v.nullable(v.string()),
  answeredAt: v.nullable(field.timestamp),
  createdAt: field.timestamp,
  updatedAt: field.timestamp,
})
export type Interaction = v.InferOutput<typeof Interaction>

/** The parts of an interaction that one JSON column stores. */
export type Asked = Pick<Interaction, 'title' | 'question' | 'options' | 'multiple' | 'recommended' | 'tasks'>

const MAX_CHOICES = 50

const id = v.optional(
  v.pipe(field.name, v.description('The id for the answer. Default: `1`, `2`, ... in the order of the request.')),
)

const NewOption = v.union(
  [field.name, v.strictObject({ id, label: field.name, description: v.optional(v.nullable(field.text)) })],
  'must be a label, or an object with label and description',
)

const NewTask = v.strictObject({
  id,
  title: field.name,
  description: v.optional(v.nullable(field.text)),
  priority: v.optional(v.picklist(PRIORITIES), 'medium'),
  assigneeAgentId: v.optional(v.nullable(field.reference)),
})

const NewFields = v.strictObject({
  kind: v.pipe(
    v.picklist([...INTERACTION_KINDS, ...(Object.keys(KIND_ALIASES) as (keyof typeof KIND_ALIASES)[])]),
    v.description(
      'question, confirm, choose or suggest_tasks. The other kinds are those of similar APIs, which describe the question in `payload`.',
    ),
  ),
  title: v.optional(
    v.pipe(v.nullable(field.name), v.description('One line: what is asked. Required without `payload`.')),
  ),
  question: v.optional(v.pipe(v.nullable(field.text), v.description('Markdown: what is needed to answer.'))),
  options: v.optional(
    v.pipe(
      v.array(NewOption),
      v.minLength(2, 'must be at least 2'),
      v.maxLength(MAX_CHOICES, `must be at most ${MAX_CHOICES}`),
      v.description('For choose, and required there.'),
    ),
  ),
  multiple: v.optional(v.pipe(v.boolean(), v.description('For choose: whether several options may be chosen.'))),
  recommended: v.optional(
    v.pipe(v.nullable(field.name), v.description('For choose: the label of the option that you recommend.')),
  ),
  tasks: v.optional(
    v.pipe(
      v.array(NewTask),
      v.minLength(1, 'must be at least 1'),
      v.maxLength(MAX_CHOICES, `must be at most ${MAX_CHOICES}`),
      v.description('For suggest_tasks, and required there: the sub-issues that you suggest.'),
    ),
  ),
  payload: v.optional(
    v.pipe(Payload, v.description('The question in the form of similar APIs, instead of the fields above.')),
  ),
  summary: v.optional(v.pipe(v.nullable(field.text), v.description('The same as `question`.'))),
  // Sent by clients of similar APIs. The answer always wakes the agent that asked.
  continuationPolicy: v.optional(v.picklist(['none', 'wake_assignee', 'wake_assignee_on_accept'])),
  idempotencyKey: v.optional(v.null()),
  sourceCommentId: v.optional(v.null()),
  sourceRunId: v.optional(v.null()),
})

/** The body of a creation, also in the form of similar APIs. */
export const NewInteraction = v.pipe(
  NewFields,
  v.examples([{ kind: 'question', title: 'Which datum do we use?' }]),
  v.transform(({ kind: named, title, question, summary, options, multiple, recommended, tasks, payload }) => {
    const given = payload && fromPayload(payload)
    return {
      kind:
        given?.kind ??
        KIND_ALIASES[named as keyof typeof KIND_ALIASES] ??
        (named as (typeof INTERACTION_KINDS)[number]),
      title: title ?? given?.title ?? '',
      question: question ?? summary ?? given?.question,
      options: options ?? given?.options,
      multiple: multiple ?? given?.multiple,
      recommended,
      tasks: tasks ?? given?.tasks,
    }
  }),
  v.forward(
    v.check(({ title }) => title !== '', 'is required'),
    ['title'],
  ),
)
export type NewInteraction = v.InferOutput<typeof NewInteraction>

export const AnswerBody = v.strictObject({
  text: v.optional(v.pipe(commentText, v.description('Of a question, and required there.'))),
  confirmed: v.optional(v.pipe(v.boolean(), v.description('Of a confirm, and required there.'))),
  selected: v.optional(
    v.pipe(
      v.array(v.string()),
      v.maxLength(MAX_CHOICES),
      v.description(
        'The ids of the chosen options, or of the accepted tasks. Required for choose and suggest_tasks; an empty list accepts no task.',
      ),
    ),
  ),
  note: v.optional(v.pipe(v.nullable(field.text), v.description('Anything else that the asker should know.'))),
})
export type AnswerBody = v.InferOutput<typeof AnswerBody>

export const toInteraction = (row: InteractionRow): Interaction => ({
  id: row.id,
  companyId: row.company_id,
  issueId: row.issue_id,
  kind: row.kind,
  status: row.status,
  ...(JSON.parse(row.asked) as Asked),
  answer: row.answer === null ? null : JSON.parse(row.answer),
  createdByAgentId: row.created_by_agent_id,
  createdByUserId: row.created_by_user_id,
  createdByRunId: row.created_by_run_id,
  answeredByUserId: row.answered_by_user_id,
  answeredAt: row.answered_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})
