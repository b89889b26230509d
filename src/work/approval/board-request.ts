import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import { validate } from '../../http/validate.ts'
import { unprocessable } from '../../platform/errors.ts'
import type { ApprovalRow, Decision } from './approval.ts'

/** The required fields of a `request_board_approval` payload. Other fields are allowed. */
const BoardRequest = v.looseObject({
  title: field.name,
  question: v.optional(v.nullable(field.text)),
  options: v.optional(
    v.pipe(
      v.array(field.name),
      v.maxLength(20, 'must be at most 20'),
      v.check((options) => new Set(options).size === options.length, 'must differ from each other'),
    ),
  ),
  recommended: v.optional(v.nullable(field.name)),
})

/** Refuses a request to the board without a title, or with a recommendation that is not one of its options. */
export function assertIsBoardRequest(payload: Record<string, unknown>): void {
  const { options = [], recommended } = validate(BoardRequest, payload, 'payload')
  if (recommended && options.length > 0 && !options.includes(recommended)) {
    throw unprocessable('payload.recommended', 'must be one of the options')
  }
}

/** Returns the option that an approval chooses: the one that the board names, or the recommended one. */
export function chosenOption(approval: ApprovalRow, to: ApprovalRow['status'], { option }: Decision): string | null {
  const options = approval.type === 'request_board_approval' ? optionsOf(approval) : []
  if (option && (options.length === 0 || to !== 'approved')) {
    throw unprocessable('option', 'is only for the approval of a request_board_approval with options')
  }
  if (options.length === 0 || to !== 'approved') return null
  const { recommended } = JSON.parse(approval.payload) as { recommended?: string | null }
  const chosen = option ?? recommended
  if (!chosen) throw unprocessable('option', `is required: one of ${options.join(', ')}`)
  if (!options.includes(chosen)) throw unprocessable('option', `must be one of ${options.join(', ')}`)
  return chosen
}

const optionsOf = (approval: ApprovalRow): string[] =>
  (JSON.parse(approval.payload) as { options?: string[] }).options ?? []
