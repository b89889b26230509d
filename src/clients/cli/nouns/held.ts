import type { ResponseOf } from '../../client/types.ts'
import { programName } from '../command/as-started.ts'
import { localTime, oneLine, plain, withLocalTimes } from '../command/output.ts'
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

/** Says, in one line, which open blockers keep the assignee of an issue from starting. Empty if none does. */
export function blockerLines({
  assigneeAgentId,
  blockedBy,
}: {
  assigneeAgentId: string | null
  blockedBy: readonly Blocker[]
}): string[] {
  const open = blockedBy.filter(({ status }) => status !== 'done' && status !== 'cancelled')
  if (open.length === 0 || assigneeAgentId === null) return []
  return [`It begins when its blockers are done: ${open.map(({ identifier }) => identifier).join(', ')}.`]
}

/** Lists the conditions that hold the runs which wait for an issue, one line each. */
export async function holdLines({ client }: Scope, issueId: string): Promise<string[]> {
  const { steps } = await client.request('GET /api/issues/:issueId/why', { params: { issueId } })
  return steps.flatMap(({ actorName, heldBy }) => (heldBy.length > 0 ? heldLines(actorName, heldBy) : []))
}

/** Describes a freeze of the instance in one line. */
export const frozenLine = ({ frozenAt, frozenBecause, waitingWakes }: ResponseOf<'GET /api/instance'>) =>
  `All runs are frozen since ${localTime(frozenAt!)}${frozenBecause ? ` (${oneLine(frozenBecause)})` : ''}; ${waitingWakes} ${waitingWakes === 1 ? 'agent waits' : 'agents wait'}. End it with: ${programName()} thaw`
