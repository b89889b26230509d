import { plain, withLocalTimes } from '../command/output.ts'
import type { Scope } from '../command/scope.ts'

interface Condition {
  message: string
}

/** Formats the conditions that keep the run of an agent from starting, one per line. */
export const heldLines = (name: string, heldBy: readonly Condition[]): string[] => [
  `${plain(name)} is woken, but does not run yet:`,
  ...heldBy.map(({ message }) => `  ${withLocalTimes(plain(message))}`),
]

interface Blocker {
  identifier: string
  status: string
}

/**
 * Describes what keeps the agents from working on an issue, one line each: its
 * open blockers, and the conditions that hold the runs that wait for it.
 */
export async function waitsOf(
  { client }: Scope,
  { id, assigneeAgentId, blockedBy }: { id: string; assigneeAgentId: string | null; blockedBy: readonly Blocker[] },
): Promise<string[]> {
  const open = blockedBy.filter(({ status }) => status !== 'done' && status !== 'cancelled')
  const { steps } = await client.request('GET /api/issues/:issueId/why', { params: { issueId: id } })
  return [
    ...(open.length > 0 && assigneeAgentId !== null
      ? [`It begins when its blockers are done: ${open.map(({ identifier }) => identifier).join(', ')}.`]
      : []),
    ...steps.flatMap(({ actorName, heldBy }) => (heldBy.length > 0 ? heldLines(actorName, heldBy) : [])),
  ]
}
