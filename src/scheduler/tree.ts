import { setTimeout as delay } from 'node:timers/promises'
import { groupMembers, markedProcesses, type ProcessIdentity, signalProcess } from './process-table.ts'

/** How often the table is looked at while processes are being ended: nothing tells when another's child ends. */
const LOOK_MS = 25

/** How long those that were killed may take to be gone; a process in the kernel's hands can take a moment. */
const KILL_LIMIT_MS = 5_000

/**
 * Ends what is left of a run, but for `except`: asks each process, waits, and
 * kills those that stay; looks again until there is none, since they may fork
 * meanwhile.
 *
 * @param groupId the run's group, whose leader must be alive; null when it is not known to be
 * @returns how many there were
 */
export async function endTree(
  run: { id: string; groupId: number | null; except: number },
  graceMs: number,
): Promise<number> {
  const asked = new Set<string>()
  const askUntil = Date.now() + graceMs
  const giveUpAt = askUntil + KILL_LIMIT_MS
  for (let left = remaining(run); left.length > 0; left = remaining(run)) {
    const isPatient = Date.now() < askUntil
    for (const one of left) {
      const isAsked = asked.has(keyOf(one))
      asked.add(keyOf(one))
      if (!isPatient) signalProcess(one, 'SIGKILL')
      else if (!isAsked) signalProcess(one, 'SIGTERM')
    }
    if (Date.now() > giveUpAt) break
    await delay(LOOK_MS)
  }
  return asked.size
}

const keyOf = (one: ProcessIdentity) => `${one.pid} ${one.startTime}`

/** The run's group, and those that left it but carry its marker. */
function remaining({ id, groupId, except }: { id: string; groupId: number | null; except: number }): ProcessIdentity[] {
  const members = groupId === null ? [] : groupMembers(groupId, except)
  const strays = (markedProcesses().get(id) ?? []).filter((one) => one.pid !== except)
  return [...new Map([...members, ...strays].map((one) => [one.pid, one])).values()]
}
