import type { Selectable } from 'kysely'
import * as v from 'valibot'
import { SECRET_NAME } from '../../adapter/config.ts'
import * as field from '../../http/fields.ts'
import type { SecretTable } from '../../platform/database/tables.ts'

export type SecretRow = Selectable<SecretTable>

/** A secret as the API returns it. No response contains its value. */
export const Secret = v.strictObject({
  id: field.id,
  companyId: field.id,
  name: v.string(),
  description: v.nullable(v.string()),
  version: v.pipe(field.integer, v.description('Starts at 1 and grows by 1 with each rotation.')),
  createdAt: field.timestamp,
  updatedAt: field.timestamp,
})
export type Secret = v.InferOutput<typeof Secret>

/** An entity that refers to a secret by its name. */
export const SecretUse = v.strictObject({ type: v.picklist(['agent', 'project']), id: field.id, name: v.string() })
export type SecretUse = v.InferOutput<typeof SecretUse>

export const SecretWithUses = v.strictObject({ ...Secret.entries, usedBy: v.array(SecretUse) })

/**
 * The minimum length. A shorter value could not be distinguished from ordinary
 * words when it is removed from output.
 */
const SHORTEST = 8

/** The maximum length. One environment variable holds at most 128 KB. */
const LONGEST = 65_536

const value = v.pipe(
  v.string('must be a text'),
  v.minLength(SHORTEST, `must be at least ${SHORTEST} characters`),
  v.maxLength(LONGEST, `must be at most ${LONGEST} characters`),
  v.description('The value is never returned again.'),
)

export const NewSecret = v.strictObject({
  name: v.pipe(
    v.string(),
    v.regex(SECRET_NAME, 'must be 1 to 100 letters, digits, `_`, `.` or `-`, and begin with a letter or `_`'),
    v.description('The name in `{"$secret": "NAME"}`.'),
    v.examples(['DEPLOY_KEY']),
  ),
  value,
  description: v.optional(v.nullable(field.text)),
})
export type NewSecret = v.InferOutput<typeof NewSecret>

export const NewValue = v.strictObject({ value })

export const toSecret = (row: SecretRow): Secret => ({
  id: row.id,
  companyId: row.company_id,
  name: row.name,
  description: row.description,
  version: row.version,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})
