/** A record with the names by which people refer to it. */
export interface Named {
  id: string
  names: readonly (string | null | undefined)[]
}

/**
 * Returns the records that match a reference: the one with this id, otherwise
 * those with this name (case-insensitive), otherwise those whose id ends with it
 * (at least four characters, as tables print ids).
 */
export function findNamed<Item extends Named>(all: readonly Item[], ref: string): Item[] {
  const wanted = ref.toLowerCase()
  const named = all.filter(({ id, names }) => [id, ...names].some((name) => name?.toLowerCase() === wanted))
  return named.length > 0 ? named : all.filter(({ id }) => wanted.length >= 4 && id.toLowerCase().endsWith(wanted))
}
