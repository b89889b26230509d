import type { Context } from '../../platform/context.ts'
import type { Kept } from '../read/package.ts'
import { insertPart, type PartRow } from './queries.ts'

/** What a company stores of an entity of a package besides its fields. */
export interface KeptPart extends Kept {
  /** The slug in the package, if it does not follow from the title. */
  slug?: string | null
  /** The description of the frontmatter, if the file had a body too. */
  summary?: string | null
  otherSkills?: readonly string[]
}

const FOLDER = 'kept/'

/** Stores what a package says of an entity that has no field here. Stores nothing if there is nothing. */
export function storeKept(ctx: Context, companyId: string, entityId: string, part: KeptPart): void {
  const { matter, sidecar, otherSkills = [], slug = null, summary = null } = part
  const isEmpty = [matter, sidecar, otherSkills].every((value) => Object.keys(value).length === 0)
  if (isEmpty && slug === null && summary === null) return
  const content = Buffer.from(JSON.stringify(part))
  insertPart(ctx.db, { company_id: companyId, path: `${FOLDER}${entityId}`, kind: 'kept', content })
}

/** Returns a function that finds what is stored of an entity. */
export function keptReader(parts: readonly PartRow[]): (entityId: string) => KeptPart {
  const kept = new Map(
    parts
      .filter((part) => part.kind === 'kept')
      .map((part) => [part.path.slice(FOLDER.length), JSON.parse(Buffer.from(part.content).toString()) as KeptPart]),
  )
  return (entityId) => kept.get(entityId) ?? { matter: {}, sidecar: {} }
}

export type KeptOf = ReturnType<typeof keptReader>
