/** A piece of work that an issue is to be split into. */
export interface Part {
  title: string
  /** The role that is to do it; null for whoever is free. */
  role: string | null
  description: string
}

/**
 * Reads the parts of an issue from its description: each bullet at the margin
 * is one, `(role)` at its end says whose, and what is indented below it is its
 * description, which may hold parts of its own.
 *
 *     - Build the page (manager)
 *       - Draw the curve (engineer)
 */
export function partsOf(description: string): Part[] {
  const parts: Part[] = []
  for (const line of description.split('\n')) {
    const bullet = /^- (.+?)(?: \((\w+)\))?$/.exec(line)
    if (bullet) parts.push({ title: bullet[1]!, role: bullet[2] ?? null, description: '' })
    else if (line.startsWith('  ') && parts.length > 0) parts.at(-1)!.description += `${line.slice(2)}\n`
  }
  return parts.map((part) => ({ ...part, description: part.description.trim() }))
}

/** The parts of an issue that says nothing of any, by who is there to do them. */
export function usualParts(title: string, roles: ReadonlySet<string>): Part[] {
  const part = (verb: string, role: string): Part => ({ title: `${verb}: ${title}`, role, description: '' })
  return [...roles].flatMap((role) => {
    if (role === 'researcher') return [part('Look into', role)]
    if (role === 'engineer') return [part('Build', role), part('Test', role)]
    return [part('Deliver', role)]
  })
}
