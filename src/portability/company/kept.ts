import type { Context } from '../../platform/context.ts'
import type { Kept } from '../read/package.ts'
import { insertPart, type PartRow } from './queries.ts'

/** The data of a package entity that a company stores in addition to the fields of its table. */
export interface KeptPart extends Kept {
  /** The slug in the package, if it does not follow from the title. */
  slug?: string | null
  /** The description of the frontmatter, if the file had a body too. */
  summary?: string | null
  otherSkills?: readonly string[]
}

const FOLDER = 'kept/'

/** Stores the data of a package entity that has no column in its table. A no-op if there is no such data. */
export function storeKept(ctx: Context, companyId: string, entityId: string, part: KeptPart): void {
  const { matter, sidecar, otherSkills = [], slug = null, summary = null } = part
  const isEmpty = [matter, sidecar, otherSkills].every((value) => Object.keys(value).length === 0)
  if (isEmpty && slug === null && summary === null) return
  const content = Buffer.from(JSON.stringify(part))
  insertPart(ctx.db, { company_id: companyId, path: `${FOLDER}${entityId}`, kind: 'kept', content })
}

/** Returns a function that finds the stored additional data of an entity. */
export function keptReader(parts: readonly PartRow[]): (entityId: string) => KeptPart {
  const kept = new Map(
    parts
      .filter((part) => part.kind === 'kept')
      .map((part) => [part.path.slice(FOLDER.length), JSON.parse(Buffer.from(part.content).toString()) as KeptPart]),
  )
  return (entityId) => kept.get(entityId) ?? { matter: {}, sidecar: {} }
}

export type KeptOf = ReturnType<typeof keptReader>
