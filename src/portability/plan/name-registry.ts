/** An entity of a package that may conflict with one of the company. */
export interface ImportCandidate {
  slug: string
  name: string
  path: string | null
  status?: string | null
  /** Whether a second one makes no sense: a conflict is then skipped with any strategy. */
  isUnique?: boolean
}

/** An entity of the company, or an earlier one of the package. */
interface NamedRow {
  id: string | null
  slug: string
  name: string
  /** Whether the row only reserves its slug: no import can use the entity any more. */
  isGone?: boolean
}

export interface NameConflict extends NamedRow {
  reason: string
}

/** The slugs and names that entities of one kind use already. */
export interface NameRegistry {
  findConflict(candidate: ImportCandidate): NameConflict | undefined
  add(slug: string, name: string): void
}

export function createNameRegistry(
  kind: string,
  rows: readonly NamedRow[],
  by: 'slug' | 'name' | 'both',
): NameRegistry {
  const slugs = new Map<string, NamedRow>()
  const names = new Map<string, NamedRow>()
  const addRow = (row: NamedRow) => {
    slugs.set(row.slug, slugs.get(row.slug) ?? row)
    names.set(row.name.toLowerCase(), names.get(row.name.toLowerCase()) ?? row)
  }
  for (const row of rows) addRow(row)
  const addedNames = new Set<string>()
  return {
    findConflict({ slug, name }) {
      const bySlug = by === 'name' ? undefined : slugs.get(slug)
      // Two entities of one package may have the same name.
      const byName = by === 'slug' || addedNames.has(name.toLowerCase()) ? undefined : names.get(name.toLowerCase())
      const row = bySlug ?? byName
      return row && { ...row, reason: `The ${kind} ${bySlug ? bySlug.slug : row.name} exists already.` }
    },
    add(slug, name) {
      if (!names.has(name.toLowerCase())) addedNames.add(name.toLowerCase())
      addRow({ id: null, slug, name })
    },
  }
}

/** Returns the first of `slug-2` with `Name 2`, and so on, where both are free. */
export function freeNameOf(candidate: ImportCandidate, registry: NameRegistry): { as: string; newSlug: string } {
  for (let n = 2; ; n++) {
    const as = `${[...candidate.name].slice(0, 190).join('')} ${n}`
    const newSlug = `${candidate.slug}-${n}`
    if (!registry.findConflict({ ...candidate, slug: newSlug, name: as })) return { as, newSlug }
  }
}
