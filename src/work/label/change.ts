import { recordActivity } from '../../access/activity/record.ts'
import type { Caller } from '../../access/caller/caller.ts'
import { requireVisible } from '../../access/caller/visibility.ts'
import type { Context } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { uuid } from '../../platform/uuid.ts'
import type { LabelChange, LabelRow, NewLabel } from './label.ts'
import { deleteLabelRow, findLabel, findLabelByName, insertLabel, updateLabelRow } from './queries.ts'

/** Creates a label. Its name must be unique in the company. */
export function createLabel(ctx: Context, caller: Caller, companyId: string, want: NewLabel): LabelRow {
  assertNameFree(ctx, companyId, want.name)
  const label = insertLabel(ctx.db, {
    id: uuid(),
    company_id: companyId,
    name: want.name,
    color: want.color,
    created_at: ctx.now,
    updated_at: ctx.now,
  })
  record(ctx, caller, 'label.created', label, { name: label.name, color: label.color })
  return label
}

export function updateLabel(ctx: Context, caller: Caller, id: string, want: LabelChange): LabelRow {
  const label = getLabel(ctx, caller, id)
  const name = want.name ?? label.name
  const color = want.color ?? label.color
  if (name === label.name && color === label.color) return label
  assertNameFree(ctx, label.company_id, name, label.id)
  const changed = updateLabelRow(ctx.db, id, { name, color, updated_at: ctx.now })
  record(ctx, caller, 'label.updated', changed, {
    name,
    changes: {
      ...(name !== label.name && { name: { from: label.name, to: name } }),
      ...(color !== label.color && { color: { from: label.color, to: color } }),
    },
  })
  return changed
}

/** Deletes a label and removes it from all issues. */
export function deleteLabel(ctx: Context, caller: Caller, id: string): LabelRow {
  const label = getLabel(ctx, caller, id)
  deleteLabelRow(ctx.db, id)
  record(ctx, caller, 'label.deleted', label, { name: label.name })
  return label
}

function getLabel(ctx: Context, caller: Caller, id: string): LabelRow {
  const label = findLabel(ctx.db, { id })
  return requireVisible(ctx, caller, label, 'label', id)
}

function assertNameFree(ctx: Context, companyId: string, name: string, exceptId?: string): void {
  const other = findLabelByName(ctx.db, { companyId, name })
  if (!other || other.id === exceptId) return
  throw new AppError('conflict', `A label named ${other.name} already exists. Use it, or choose another name.`, {
    labelId: other.id,
  })
}

const record = (
  ctx: Context,
  caller: Caller,
  action: 'label.created' | 'label.updated' | 'label.deleted',
  label: LabelRow,
  details: Record<string, unknown>,
) =>
  recordActivity(ctx, caller, { companyId: label.company_id, action, entity: { type: 'label', id: label.id }, details })
