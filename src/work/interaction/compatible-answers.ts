import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import type { AnswerBody, Interaction } from './interaction.ts'

const ids = v.optional(v.pipe(v.array(field.name), v.maxLength(50, 'must be at most 50')))

export const AcceptBody = v.strictObject({
  selectedClientKeys: v.pipe(ids, v.description('The ids of the accepted tasks. Default: all.')),
  selectedOptionIds: v.pipe(ids, v.description('The ids of the chosen options.')),
})

export const RejectBody = v.strictObject({
  reason: v.optional(v.pipe(v.nullable(field.text), v.description('The reason, which the answer contains.'))),
})

export const RespondBody = v.strictObject({
  answers: v.pipe(
    v.array(
      v.strictObject({
        questionId: v.pipe(field.name, v.description('The id of the question.')),
        optionIds: ids,
        otherText: v.optional(v.nullable(field.text)),
      }),
    ),
    v.maxLength(20, 'must be at most 20'),
    v.description('The answers to the questions.'),
  ),
  summaryMarkdown: v.optional(v.pipe(v.nullable(field.text), v.description('The answers as one text.'))),
})

/** Converts an acceptance to the answer that the kind of the interaction expects. */
export function toAcceptance(
  { kind, tasks }: Interaction,
  { selectedClientKeys, selectedOptionIds }: v.InferOutput<typeof AcceptBody>,
): AnswerBody {
  if (kind === 'suggest_tasks') return { selected: selectedClientKeys ?? tasks.map(({ id }) => id) }
  return kind === 'choose' ? { selected: selectedOptionIds ?? [] } : { confirmed: true }
}

export const toRejection = ({ kind }: Interaction, { reason }: v.InferOutput<typeof RejectBody>): AnswerBody => ({
  ...(kind === 'suggest_tasks' ? { selected: [] } : { confirmed: false }),
  note: reason ?? null,
})

export function toResponse(
  { kind }: Interaction,
  { answers, summaryMarkdown }: v.InferOutput<typeof RespondBody>,
): AnswerBody {
  if (kind === 'choose') return { selected: answers.flatMap(({ optionIds = [] }) => optionIds), note: summaryMarkdown }
  const lines = answers.map(({ optionIds = [], otherText }) => [...optionIds, otherText].filter(Boolean).join(', '))
  return { text: summaryMarkdown ?? lines.join('\n') }
}
