/** A record with the names by which people refer to it. */
export interface Named {
  id: string
  names: readonly (string | null | undefined)[]
  /** Whether the record no longer exists for people, as a terminated agent. Another record may have taken its name. */
  isGone?: boolean
}

/**
 * Returns the records that match a reference: the one with this id, otherwise
 * those with this name (case-insensitive), without the gone ones if another has the name, otherwise those whose id
 * ends with it (at least four characters, as tables print ids).
 */
export function findNamed<Item extends Named>(all: readonly Item[], ref: string): Item[] {
  const wanted = ref.toLowerCase()
  const named = all.filter(({ id, names }) => [id, ...names].some((name) => name?.toLowerCase() === wanted))
  const present = named.filter(({ isGone }) => !isGone)
  if (present.length > 0) return present
  return named.length > 0 ? named : all.filter(({ id }) => wanted.length >= 4 && id.toLowerCase().endsWith(wanted))
}
