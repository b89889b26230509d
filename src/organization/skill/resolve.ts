import type { Context } from '../../platform/context.ts'
import { AppError, type FieldError } from '../../platform/errors.ts'
import { findSkill, findSkillByKey, listSkillsBySlug } from './queries.ts'

/**
 * Returns the canonical keys of skills, each once, in the given order. A
 * reference is an id, else a key, else a slug that only one skill has.
 *
 * @param refs as the request sent them
 * @param field the field of the body that contains them
 * @throws AppError 422 that names every invalid reference and the candidates of an ambiguous one
 */
export function resolveSkills(
  ctx: Context,
  companyId: string,
  refs: readonly string[],
  field = 'desiredSkills',
): string[] {
  const keys: string[] = []
  const faults: (FieldError & { entry: string; candidates: string[] })[] = []
  for (const [i, entry] of refs.entries()) {
    const candidates = keysOf(ctx, companyId, entry)
    if (candidates.length === 1) keys.push(candidates[0]!)
    else faults.push({ path: `${field}.${i}`, message: faultOf(entry, candidates), entry, candidates })
  }
  if (faults.length > 0) {
    const message = faults.map((fault) => `${fault.path}: ${fault.message}`).join('; ')
    throw new AppError('semantic', message, { fields: faults })
  }
  return [...new Set(keys)]
}

function keysOf(ctx: Context, companyId: string, entry: string): string[] {
  const byId = findSkill(ctx.db, { id: entry })
  if (byId?.company_id === companyId) return [byId.key]
  const name = entry.trim().toLowerCase()
  const byKey = findSkillByKey(ctx.db, { companyId, key: name })
  if (byKey) return [byKey.key]
  return listSkillsBySlug(ctx.db, { companyId, slug: name }).map((skill) => skill.key)
}

const faultOf = (entry: string, candidates: readonly string[]) =>
  candidates.length === 0
    ? `there is no skill ${JSON.stringify(entry)} in this company; GET /api/companies/:companyId/skills lists them`
    : `${JSON.stringify(entry)} is the slug of several skills; send the key: ${candidates.join(' or ')}`
