import * as v from 'valibot'
import { type FieldError, invalid } from '../errors.ts'

/** Checks a value and returns it as the schema has it; else a 400 that names every field at fault. */
export function validate<T>(schema: v.GenericSchema<unknown, T>, value: unknown, at = ''): T {
  const result = v.safeParse(schema, value)
  if (result.success) return result.output
  throw invalid(result.issues.flatMap((issue) => fieldErrors(issue, at)))
}

function fieldErrors(issue: v.BaseIssue<unknown>, at: string): FieldError[] {
  const path = [at, v.getDotPath(issue)].filter(Boolean).join('.')
  if (issue.type === 'strict_object' && issue.expected === 'never') {
    return [{ path, message: 'is not a field of this request' }]
  }
  if (issue.type.endsWith('object') && issue.received === 'undefined') return [{ path, message: 'is required' }]
  // valibot's own messages begin "Invalid type: "; those of this project's schemas are clauses already.
  return [{ path, message: issue.message.replace(/^Invalid \w+: /, '').replace(/^Expected/, 'expected') }]
}
