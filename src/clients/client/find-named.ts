/** A record as people refer to it. */
export interface Named {
  id: string
  names: readonly (string | null | undefined)[]
}

/**
 * Returns the records that a reference means: the one with this id, else those
 * with this name in any case, else those whose id ends like this, as tables
 * print ids (four characters or more).
 */
export function findNamed<Item extends Named>(all: readonly Item[], ref: string): Item[] {
  const wanted = ref.toLowerCase()
  const named = all.filter(({ id, names }) => [id, ...names].some((name) => name?.toLowerCase() === wanted))
  return named.length > 0 ? named : all.filter(({ id }) => wanted.length >= 4 && id.toLowerCase().endsWith(wanted))
}
