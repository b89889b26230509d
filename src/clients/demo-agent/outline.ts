/** One part of an issue, which becomes a sub-issue. */
export interface Part {
  title: string
  /** The role of the assignee, or null for any agent. */
  role: string | null
  description: string
}

/**
 * Parses the parts of an issue from its description. Each top-level bullet is a
 * part, and `(role)` at its end is the role of the assignee. The indented lines
 * below it are its description, which may contain further parts.
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

/** Returns default parts for an issue without an outline, according to the roles of the reports. */
export function usualParts(title: string, roles: ReadonlySet<string>): Part[] {
  const part = (verb: string, role: string): Part => ({ title: `${verb}: ${title}`, role, description: '' })
  return [...roles].flatMap((role) => {
    if (role === 'researcher') return [part('Look into', role)]
    if (role === 'engineer') return [part('Build', role), part('Test', role)]
    return [part('Deliver', role)]
  })
}
