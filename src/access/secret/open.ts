import type { Context } from '../../platform/context.ts'
import { findSecretsByName } from './queries.ts'

/**
 * Decrypts a company's secrets, only for the start of a run. The result omits
 * names that the company does not have; undefined marks a secret that the key
 * cannot decrypt.
 */
export function openSecrets(
  ctx: Context,
  companyId: string,
  names: readonly string[],
): Map<string, string | undefined> {
  if (names.length === 0) return new Map()
  const rows = findSecretsByName(ctx.db, { companyId, names })
  return new Map(rows.map(({ name, sealed }) => [name, ctx.vault.open({ companyId, name }, sealed)]))
}
