import { spawn } from 'node:child_process'
import { findProgram } from '../process/capabilities.ts'
import { SYSTEM_PATH } from './pid-namespace.ts'

/** The working bubblewrap of this machine, or the reason why it does not work and what to do. */
export type Bubblewrap = WorkingBubblewrap | { missing: string; hint: string }

export interface WorkingBubblewrap {
  path: string
  version: string
  /** Whether it can mount open file descriptors (`--bind-fd`): from version 0.10 on, and in the security updates of older ones. */
  bindsDescriptors: boolean
}

/**
 * Finds bubblewrap and probes it by starting a program in a sandbox.
 *
 * @param searchPath the PATH to search, besides the folders of the system
 */
export async function findBubblewrap(searchPath: string): Promise<Bubblewrap> {
  if (process.platform !== 'linux') {
    return { missing: 'bubblewrap needs Linux.', hint: 'Turn the sandbox off here: sandbox "off".' }
  }
  const path = findBwrap(searchPath)
  if (!path) {
    return {
      missing: 'The program bwrap was not found.',
      hint: 'Install bubblewrap: apt install bubblewrap, dnf install bubblewrap or pacman -S bubblewrap.',
    }
  }
  const probe = await run(path, [
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--new-session', '--cap-drop', 'ALL'],
    ...['--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--', path, '--version'],
  ])
  if (probe.code === 0) {
    const bindsDescriptors = /^\s*--ro-bind-fd\b/m.test((await run(path, ['--help'])).out)
    return { path, version: probe.out.trim().replace('bubblewrap ', ''), bindsDescriptors }
  }
  const cause = probe.code === null ? 'it timed out' : `it exited with code ${probe.code}`
  return {
    missing: `bwrap cannot create a sandbox: ${probe.out.trim().split('\n').at(-1) || cause}.`,
    hint: 'Allow user namespaces (on Ubuntu: sysctl kernel.apparmor_restrict_unprivileged_userns=0). In a container, allow nested namespaces, or isolate by the container and turn the sandbox off.',
  }
}

/** Returns the path of bwrap, or null if it is not installed. */
export const findBwrap = (searchPath: string) => findProgram('bwrap', `${searchPath}:${SYSTEM_PATH}`)

/** Generous: a probe takes 10 ms on an idle machine, but a timeout on a busy one would hold the agent for a minute. */
const TIMEOUT_MS = 30_000

function run(program: string, args: string[]): Promise<{ code: number | null; out: string }> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: TIMEOUT_MS,
      killSignal: 'SIGKILL',
    })
    let out = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        out += text
      })
    }
    child.on('error', (error) => resolve({ code: null, out: error.message }))
    child.on('close', (code) => resolve({ code, out }))
  })
}
