import { spawnSync } from 'node:child_process'
import type { ProcessEntry } from './process-entry.ts'

/**
 * Lists the processes of a system without /proc (macOS) with `ps`, best effort.
 * `ps` does not print the session, so only a group leader has one: its own.
 */
export function listByPs(pid?: number): ProcessEntry[] {
  const ps = run('ps', [...(pid ? ['-p', String(pid)] : ['-ax']), '-o', 'pid=,ppid=,pgid=,stat=,lstart='])
  return ps.stdout.split('\n').flatMap((line) => {
    const [id, parent, group, state, ...started] = line.trim().split(/\s+/)
    if (!id || !state || state.startsWith('Z') || Number(id) === ps.pid) return []
    return [
      {
        pid: Number(id),
        parent: Number(parent),
        group: Number(group),
        session: Number(id) === Number(group) ? Number(id) : 0,
        startTime: started.join(' '),
      },
    ]
  })
}

/**
 * Returns an environment variable of a process of this user: empty if it is not
 * set, undefined if the process is gone. `ps -E` prints the environment after the arguments.
 */
export function markerByPs(pid: number, variable: string): string | undefined {
  const line = run('ps', ['-E', '-ww', '-p', String(pid), '-o', 'command=']).stdout
  return new RegExp(`(?:^|\\s)${variable}=(\\S+)`).exec(line)?.[1] ?? (line ? '' : undefined)
}

export const psBootId = (): string =>
  run('sysctl', ['-n', 'kern.bootsessionuuid']).stdout.trim() || run('sysctl', ['-n', 'kern.boottime']).stdout.trim()

/** Returns the output and the pid of a program. A failure yields empty output: `ps` exits 1 if a pid is gone. */
function run(program: string, args: string[]): { pid: number; stdout: string } {
  const { pid, stdout } = spawnSync(program, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C' },
    maxBuffer: 64 * 1024 * 1024,
  })
  return { pid, stdout: stdout ?? '' }
}
