import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import { PRIORITIES } from '../issue/issue.ts'

/** The kinds of clients of similar APIs, with the kind of this API that each becomes. */
export const KIND_ALIASES = {
  request_confirmation: 'confirm',
  ask_user_questions: 'question',
  request_checkbox_confirmation: 'choose',
} as const

const text = v.optional(v.nullable(field.text))

const unused = v.optional(v.pipe(v.unknown(), v.description('Accepted and ignored.')))

/** Accepts fields without a meaning in this API, such as the labels of buttons. */
const ignored = <const Name extends string>(...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, unused])) as Record<Name, typeof unused>

const choices = v.pipe(
  v.array(v.strictObject({ id: field.name, label: field.name, description: text, ...ignored('metadata') })),
  v.maxLength(50, 'must be at most 50'),
  v.description('The options to choose from.'),
)

/** The `payload` of clients of similar APIs. */
export const Payload = v.strictObject({
  ...ignored(
    'version',
    'title',
    'submitLabel',
    'acceptLabel',
    'rejectLabel',
    'allowDeclineReason',
    'rejectRequiresReason',
    'declineReasonPlaceholder',
    'supersedeOnUserComment',
    'target',
    'defaultParentId',
    'defaultSelectedOptionIds',
    'minSelected',
    'maxSelected',
  ),
  prompt: text,
  detailsMarkdown: text,
  options: v.optional(choices),
  questions: v.optional(
    v.pipe(
      v.array(
        v.strictObject({
          ...ignored('id', 'helpText', 'required'),
          prompt: field.text,
          selectionMode: v.optional(v.string()),
          options: v.optional(choices),
        }),
      ),
      v.minLength(1, 'must be at least 1'),
      v.maxLength(20, 'must be at most 20'),
    ),
  ),
  tasks: v.optional(
    v.pipe(
      v.array(
        v.strictObject({
          ...ignored(
            'parentClientKey',
            'parentId',
            'assigneeUserId',
            'projectId',
            'goalId',
            'billingCode',
            'labels',
            'workMode',
            'hiddenInPreview',
          ),
          clientKey: field.name,
          title: field.name,
          description: text,
          priority: v.optional(v.nullable(v.picklist(PRIORITIES))),
          assigneeAgentId: v.optional(v.nullable(field.reference)),
        }),
      ),
      v.minLength(1, 'must be at least 1'),
      v.maxLength(50, 'must be at most 50'),
    ),
  ),
})

/** Converts a payload to the fields of this API. The ids of options and tasks are those of the payload. */
export function fromPayload({ prompt, detailsMarkdown, options, questions, tasks }: v.InferOutput<typeof Payload>) {
  const [only, ...others] = questions ?? []
  const isChoice = others.length === 0 && (only?.options?.length ?? 0) > 1
  const asked = questions?.map(textOf).join('\n\n') ?? prompt ?? undefined
  return {
    ...(isChoice && { kind: 'choose' as const }),
    title: asked
      ? titleOf(asked)
      : tasks && `Create ${tasks.length === 1 ? 'a sub-issue' : `${tasks.length} sub-issues`}?`,
    question: [asked, detailsMarkdown].filter(Boolean).join('\n\n') || undefined,
    options: isChoice ? only?.options : options,
    multiple: isChoice ? only?.selectionMode === 'multi' : options ? true : undefined,
    tasks: tasks?.map(({ clientKey, title, description, priority, assigneeAgentId }) => ({
      id: clientKey,
      title,
      description,
      priority: priority ?? ('medium' as const),
      assigneeAgentId,
    })),
  }
}

/** Returns the first line as a title: one line of at most 200 characters. */
const titleOf = (text: string) => {
  const [line = ''] = text.trim().split('\n')
  return [...line.replaceAll(/\p{C}/gu, ' ')].slice(0, 200).join('').trim()
}

const textOf = ({ prompt, options = [] }: { prompt: string; options?: { label: string }[] | undefined }) =>
  [prompt, ...options.map(({ label }) => `- ${label}`)].join('\n')
