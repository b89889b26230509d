import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { delimiter } from 'node:path'
import { findProgram } from '../process/capabilities.ts'

/** Where the programs of the system are, whatever the server's own PATH. */
export const SYSTEM_PATH = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/run/current-system/sw/bin'].join(delimiter)

/**
 * Returns what starts a command in a PID namespace of its own, or null where
 * the system offers none without root: macOS, containers that refuse it,
 * kernels without user namespaces, programs of the system that are too old.
 *
 * In the namespace, a process cannot leave the run's tree: when its parent
 * exits, it becomes a child of the namespace's first process, and when that one
 * ends, the kernel ends them all. The steps:
 *
 * 1. `unshare` makes the namespace for the children that follow. Without root
 *    this takes a user namespace, in which user and group stay what they are.
 * 2. `sleep` is the first process. It ignores SIGCHLD, so that the kernel
 *    removes what ends as its child, and lives until the shim ends it.
 * 3. `nsenter` starts the command as the second process, waits for it, and ends
 *    as it did: by the same exit code or signal.
 * 4. `setsid` gives the command a process group of its own, so that a signal to
 *    the whole group does not end `nsenter`.
 * 5. The inner `unshare` mounts a /proc that shows this namespace, and `setpriv`
 *    drops the capabilities in the user namespace that this needed.
 *
 * It takes 6 ms a run, measured on 2 cores of a quiet machine.
 *
 * @throws if the probe cannot be started or times out, which says nothing about the system
 */
export async function findPidNamespace(): Promise<string[] | null> {
  if (process.platform !== 'linux') return null
  const names = ['unshare', 'nsenter', 'setsid', 'setpriv', 'env', 'sleep', 'sh'] as const
  const paths = names.map((name) => findProgram(name, SYSTEM_PATH))
  if (paths.includes(null)) return null
  const programs = Object.fromEntries(names.map((name, i) => [name, paths[i]!])) as Record<
    (typeof names)[number],
    string
  >
  const ways = process.getuid?.() === 0 ? [asRoot(programs), asUser(programs)] : [asUser(programs)]
  for (const argv of ways) if (await works(argv)) return argv
  return null
}

type Programs = Record<'unshare' | 'nsenter' | 'setsid' | 'setpriv' | 'env' | 'sleep' | 'sh', string>

const asRoot = (programs: Programs) => [
  ...[programs.unshare, '--pid', '--', programs.sh, '-c', scriptOf(programs), 'sh'],
]

const asUser = (programs: Programs) => [
  ...[programs.unshare, '--user', '--map-current-user', '--keep-caps', '--pid', '--'],
  ...[programs.sh, '-c', scriptOf(programs), 'sh'],
  ...[programs.setpriv, '--inh-caps=-all', '--ambient-caps=-all', '--'],
]

const scriptOf = ({ env, sleep, nsenter, setsid, unshare }: Programs) =>
  [
    `${env} --ignore-signal=CHLD ${sleep} 2147483647 <&- >&- 2>&- &`,
    'unset PWD OLDPWD SHLVL', // what the shell itself sets
    `exec ${nsenter} --pid=/proc/self/ns/pid_for_children -- ${setsid} ${unshare} --propagation slave --mount-proc -- "$@"`,
  ].join('\n')

/** What the probe runs: it sees its own namespace, and dies of a signal that must arrive as such. */
const PROBE = '[ "$$" = 2 ] && [ -e /proc/2/stat ] && [ "$(id -u)" = "$1" ] && kill -KILL $$'

async function works([program, ...args]: string[]): Promise<boolean> {
  const uid = String(process.getuid?.())
  const child = spawn(program!, [...args, '/bin/sh', '-c', PROBE, 'sh', uid], {
    stdio: 'ignore',
    detached: true,
    env: { PATH: SYSTEM_PATH },
    timeout: 5_000,
    killSignal: 'SIGKILL',
  })
  try {
    const [, signal] = await once(child, 'exit')
    if (child.killed) throw new Error('The probe of PID namespaces timed out.')
    return signal === 'SIGKILL'
  } finally {
    endGroup(child.pid)
  }
}

/** The namespace's first process is in the group, and outlives the probe. */
function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // nobody is left in the group
  }
}
