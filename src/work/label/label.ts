import type { Selectable } from 'kysely'
import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import type { LabelTable } from '../../platform/database/tables.ts'

export type LabelRow = Selectable<LabelTable>

/** A label as the API returns it. */
export const Label = v.strictObject({ id: field.id, companyId: field.id, name: v.string(), color: v.string() })
export type Label = v.InferOutput<typeof Label>

const name = v.pipe(field.name, v.examples(['urgent']))

export const NewLabel = v.strictObject({ name, color: v.optional(field.color, '#64748b') })
export type NewLabel = v.InferOutput<typeof NewLabel>

export const LabelChange = v.strictObject({ name: v.optional(name), color: v.optional(field.color) })
export type LabelChange = v.InferOutput<typeof LabelChange>

type Shown = Pick<LabelRow, 'id' | 'company_id' | 'name' | 'color'>

export const toLabel = (row: Shown): Label => ({
  id: row.id,
  companyId: row.company_id,
  name: row.name,
  color: row.color,
})
