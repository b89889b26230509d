import type { Context } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { uuid } from '../../platform/uuid.ts'
import type { Action } from '../activity/actions.ts'
import { recordActivity } from '../activity/record.ts'
import type { Caller } from '../caller/caller.ts'
import { requireVisible } from '../caller/visibility.ts'
import {
  deleteSecretRow,
  findSecret,
  findSecretsByName,
  insertSecret,
  listSecretUses,
  resealSecret,
} from './queries.ts'
import type { NewSecret, SecretRow } from './secret.ts'

export function getSecret(ctx: Context, caller: Caller, id: string): SecretRow {
  const secret = findSecret(ctx.db, { id })
  return requireVisible(ctx, caller, secret, 'secret', id)
}

/** Stores a secret under a new name. */
export function createSecret(ctx: Context, caller: Caller, companyId: string, want: NewSecret): SecretRow {
  const [taken] = findSecretsByName(ctx.db, { companyId, names: [want.name] })
  if (taken) {
    throw new AppError('conflict', `A secret named ${taken.name} already exists. Rotate it, or choose another name.`, {
      secretId: taken.id,
    })
  }
  const secret = insertSecret(ctx.db, {
    id: uuid(),
    company_id: companyId,
    name: want.name,
    description: want.description ?? null,
    sealed: ctx.vault.seal({ companyId, name: want.name }, want.value),
    created_at: ctx.now,
    updated_at: ctx.now,
  })
  record(ctx, caller, 'secret.created', secret)
  return secret
}

/** Replaces the value of a secret. Runs that start afterwards receive the new value. */
export function rotateSecret(ctx: Context, caller: Caller, secret: SecretRow, value: string): SecretRow {
  const sealed = ctx.vault.seal({ companyId: secret.company_id, name: secret.name }, value)
  const rotated = resealSecret(ctx.db, { id: secret.id, sealed, at: ctx.now })
  record(ctx, caller, 'secret.rotated', rotated)
  return rotated
}

/**
 * Deletes a secret. A secret that is in use is deleted only if the deletion is
 * forced; the next run that needs it then fails.
 */
export function deleteSecret(ctx: Context, caller: Caller, secret: SecretRow, force: boolean): SecretRow {
  const usedBy = listSecretUses(ctx.db, { companyId: secret.company_id, name: secret.name })
  if (usedBy.length > 0 && !force) {
    const users = usedBy.map((use) => `the ${use.type} ${use.name}`).join(', ')
    throw new AppError(
      'conflict',
      `The secret ${secret.name} is used by ${users}. Remove it from their env, or force its deletion: \`--force\` on the command line, \`?force=true\` in the API.`,
      { usedBy },
    )
  }
  deleteSecretRow(ctx.db, secret.id)
  record(ctx, caller, 'secret.deleted', secret, usedBy.length > 0 ? { forced: true } : {})
  return secret
}

/** The activity contains names only, because everyone in the company can read it. */
const record = (
  ctx: Context,
  caller: Caller,
  action: Action,
  secret: SecretRow,
  details: Record<string, unknown> = {},
) =>
  recordActivity(ctx, caller, {
    companyId: secret.company_id,
    action,
    entity: { type: 'secret', id: secret.id },
    details: { name: secret.name, version: secret.version, ...details },
  })
