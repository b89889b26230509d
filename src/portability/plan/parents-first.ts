/** Sorts entities so that each comes after its parent. Otherwise their order does not change. */
export function parentsFirst<T extends { slug: string }>(
  entities: readonly T[],
  parentOf: (entity: T) => string | null,
): T[] {
  const bySlug = new Map(entities.map((entity) => [entity.slug, entity]))
  const ordered = new Set<T>()
  for (const entity of entities) {
    const chain: T[] = []
    for (let at: T | undefined = entity; at && !ordered.has(at); at = bySlug.get(parentOf(at) ?? '')) chain.push(at)
    for (const one of chain.reverse()) ordered.add(one)
  }
  return [...ordered]
}
