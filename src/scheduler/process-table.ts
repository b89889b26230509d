import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { MARKER } from './shim-protocol.ts'

/**
 * A process, told apart from a later one with the same pid: pids are used
 * again, so a pid alone is never trusted.
 */
export interface ProcessIdentity {
  pid: number
  /** When it started, in the system's own notation; compared only. */
  startTime: string
  bootId: string
}

interface Entry extends ProcessIdentity {
  groupId: number
  isZombie: boolean
}

/** The processes of a group that are alive, but for `except`. */
export const groupMembers = (groupId: number, except: number): ProcessIdentity[] =>
  listProcesses().filter((one) => one.groupId === groupId && one.pid !== except && !one.isZombie)

/** The live processes that carry a run's marker in their environment, by run id. */
export function markedProcesses(): Map<string, ProcessIdentity[]> {
  const marked = new Map<string, ProcessIdentity[]>()
  for (const entry of listProcesses()) {
    const runId = entry.isZombie ? undefined : markerOf(entry.pid)
    if (runId === undefined) continue
    marked.set(runId, [...(marked.get(runId) ?? []), entry])
  }
  return marked
}

/** Whether this very process is alive. */
export function isAlive(identity: ProcessIdentity): boolean {
  const entry = findProcess(identity.pid)
  return (
    entry !== undefined && !entry.isZombie && entry.startTime === identity.startTime && entry.bootId === identity.bootId
  )
}

/** Whether this very process is alive and belongs to the run. */
export const isOfRun = (identity: ProcessIdentity, runId: string): boolean =>
  isAlive(identity) && markerOf(identity.pid) === runId

/** Signals a process if it is still the one that was meant. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  if (isAlive(identity)) send(identity.pid, signal)
}

/** Signals a group. The caller knows that its leader lives, so that its id cannot be another group's. */
export const signalGroup = (groupId: number, signal: NodeJS.Signals): void => send(-groupId, signal)

function send(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal)
  } catch (error) {
    // It ended in between, which is what was wanted.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

export function findProcess(pid: number, boot = bootId()): Entry | undefined {
  if (process.platform !== 'linux') return listProcesses().find((one) => one.pid === pid)
  try {
    return parseStat(pid, boot, readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return undefined
  }
}

function listProcesses(): Entry[] {
  if (process.platform !== 'linux') return listByPs()
  const boot = bootId()
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => findProcess(Number(name), boot) ?? [])
}

/** The name, in parentheses, may hold anything; what follows its last one are fields: state, parent, group, ... */
function parseStat(pid: number, boot: string, stat: string): Entry {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { pid, groupId: Number(fields[2]), startTime: fields[19]!, isZombie: fields[0] === 'Z', bootId: boot }
}

function markerOf(pid: number): string | undefined {
  try {
    const environment =
      process.platform === 'linux'
        ? readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
        : execFileSync('ps', ['-Eww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).split(/\s+/)
    return environment.find((entry) => entry.startsWith(`${MARKER}=`))?.slice(MARKER.length + 1)
  } catch {
    // It ended, or it is another user's: none of ours.
    return undefined
  }
}

/** Tells this boot from every other: after a reboot no recorded process is alive. */
export function bootId(): string {
  if (process.platform !== 'linux') return execFileSync('sysctl', ['-n', 'kern.boottime'], { encoding: 'utf8' }).trim()
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
}

/** macOS has no /proc; `ps` tells the same, a process a line. */
function listByPs(): Entry[] {
  const lines = execFileSync('ps', ['-axo', 'pid=,pgid=,state=,lstart='], { encoding: 'utf8' }).trim().split('\n')
  const boot = bootId()
  return lines.map((line) => {
    const [pid, groupId, state, ...start] = line.trim().split(/\s+/)
    return {
      pid: Number(pid),
      groupId: Number(groupId),
      startTime: start.join(' '),
      isZombie: state!.startsWith('Z'),
      bootId: boot,
    }
  })
}
