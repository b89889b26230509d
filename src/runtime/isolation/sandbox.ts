import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync } from 'node:fs'
import path from 'node:path'
import type { UserFiles } from '../../adapter/adapter.ts'
import { isInside } from '../../platform/real-path.ts'
import type { WorkingBubblewrap } from './bubblewrap.ts'
import { isOfSystem, type ProgramFile, SYSTEM } from './program-files.ts'

/** The files that a sandboxed run can access, besides the read-only system. Paths are absolute. */
export interface Sandbox {
  /** The server's data directory. It is hidden except for the paths below. */
  dataDir: string
  /** The folder on disk that stores the program's sessions between the runs of the agent. */
  stateDir: string
  cwd: string
  /** Folders that the run may write, including the working directory. */
  writable: readonly string[]
  /** Paths inside the writable folders that the run may only read. They must exist when the run starts. */
  guarded: readonly string[]
  /** Files and folders that the run may read. Missing ones are left out. */
  readable: readonly string[]
  /** The files of the command, which it may read. */
  programFiles: readonly ProgramFile[]
  userFiles: UserFiles
  /** The file of the seccomp filter, or null for none. */
  filter: string | null
  /** The environment of the command: HOME is read from it. */
  env: Readonly<Record<string, string>>
}

/**
 * The parts of /proc that set the kernel, read-only. If the server runs as root,
 * the kernel lets a run write them even without any capability:
 * `core_pattern` names a program that the kernel starts outside of the sandbox.
 */
const KERNEL_SETTINGS = ['sys', 'sysrq-trigger', 'irq', 'bus', 'fs', 'acpi', 'scsi'].map((name) => `/proc/${name}`)

/** Files in other folders that the system's files refer to. */
const SYSTEM_LINKS = ['/etc/resolv.conf', '/etc/localtime', '/run/current-system', '/var/lib/ca-certificates']

/**
 * Returns the command line that starts a command in a bubblewrap sandbox.
 * Later mounts cover earlier ones: system, home, login files, folders, then an
 * empty data directory, then its visible parts. Symbolic links in a mount's
 * path are resolved here on the host, so a mount must not be inside a folder
 * that a run can write; that folder shows the path anyway. Only the guarded
 * paths are: a run cannot replace a mount.
 *
 * @returns the command line, and the paths that it expects as file descriptors 3, 4 and so on
 */
export function sandboxArgv(bwrap: WorkingBubblewrap, sandbox: Sandbox): { argv: string[]; opens: string[] } {
  const { dataDir, stateDir, cwd, programFiles, userFiles, env } = sandbox
  const opens: string[] = []
  /** Mounts files by their file descriptors, so that nobody can replace them between the check and the mount. */
  const mount = (how: '--bind' | '--ro-bind', files: readonly string[]) =>
    files.flatMap((file) => {
      if (!bwrap.bindsDescriptors) return [how, file, file]
      return [`${how}-fd`, String(FIRST_DESCRIPTOR + opens.push(file) - 1), file]
    })
  const filter = sandbox.filter === null ? [] : ['--seccomp', String(FIRST_DESCRIPTOR + opens.push(sandbox.filter) - 1)]
  const home = env.HOME ?? '/nonexistent'
  const candidates = [
    ...sandbox.readable,
    ...programFiles.filter(({ target }) => target === undefined).map((file) => file.path),
  ]
  /** Returns the mounts of the paths that match: those inside the data directory, or those outside. */
  const bind = (isOfZone: (file: string) => boolean): string[] => {
    const writable = outermost(sandbox.writable.filter(isOfZone))
    const readable = outermost(
      candidates.filter((file) => isOfZone(file) && !isShown(writable, file) && existsSync(file)),
    )
    const guarded = sandbox.guarded.filter(isOfZone)
    const links = programFiles.filter((file) => isOfZone(file.path) && !isShown([...readable, ...writable], file.path))
    return [
      ...links.flatMap(({ path: link, target }) => (target === undefined ? [] : ['--symlink', target, link])),
      ...mount('--ro-bind', readable),
      ...mount('--bind', writable),
      ...mount('--ro-bind', guarded),
    ]
  }
  const hidden = [...new Set([dataDir, realPath(dataDir)])]
  const isData = (file: string) => isInside(dataDir, file)
  const argv = [
    bwrap.path,
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--new-session', '--cap-drop', 'ALL'],
    ...filter,
    ...systemMounts(),
    ...[
      '--proc',
      '/proc',
      ...KERNEL_SETTINGS.flatMap((folder) => ['--ro-bind-try', folder, folder]),
      '--dev',
      '/dev',
      '--tmpfs',
      '/tmp',
      '--tmpfs',
      '/var/tmp',
      '--tmpfs',
      home,
    ],
    ...userFiles.login.flatMap((file) => ['--bind-try', file, file]),
    ...(userFiles.settings ?? []).flatMap((file) => ['--bind-try', copyOf(stateDir, file), file]),
    ...userFiles.sessions.flatMap((folder) => ['--bind', stateFolder(stateDir, folder), folder]),
    ...bind((file) => !isData(file)),
    ...hidden.flatMap((folder) => ['--tmpfs', folder]),
    ...bind(isData),
    ...hidden.flatMap((folder) => ['--remount-ro', folder]),
    ...['--chdir', cwd, '--'],
  ]
  return { argv, opens }
}

/**
 * Returns the wrapper of a command of the server itself, which gets no sign-in
 * and no session. The command ends together with its wrapper.
 */
export function commandSandboxArgv(
  bwrap: Pick<WorkingBubblewrap, 'path'>,
  { hasNetwork, filter, ...sandbox }: Omit<Sandbox, 'stateDir' | 'userFiles'> & { hasNetwork: boolean },
): string[] {
  const whole = { stateDir: '/nonexistent', userFiles: { login: [], sessions: [] }, filter: null, ...sandbox }
  const [program, ...args] = sandboxArgv({ ...bwrap, version: '', bindsDescriptors: false }, whole).argv
  const own = [program!, '--die-with-parent', ...(hasNetwork ? [] : ['--unshare-net']), ...args]
  if (filter === null) return own
  // A shell opens the filter, so that callers pass no file descriptor.
  return ['/bin/sh', '-c', 'exec "$@" 9< "$0"', filter, program!, '--seccomp', '9', ...own.slice(1)]
}

/** The file descriptors below it are standard input, output and error. */
const FIRST_DESCRIPTOR = 3

/** Returns the folder on disk that stores one of the program's session folders. */
export const stateFolder = (stateDir: string, folder: string) => path.join(stateDir, path.basename(folder))

/** Returns the copy of one of the program's settings files, which the run may change. */
export const copyOf = (stateDir: string, file: string) => path.join(stateDir, path.basename(file))

/** The environment variables that a sandboxed run does not receive: they point to paths outside the sandbox. */
const HOST_ONLY = /^(XDG_\w+|SSH_AUTH_SOCK)$/

/** Returns the environment of a command for its sandbox. */
export const sandboxEnv = (env: Record<string, string>): Record<string, string> => ({
  ...Object.fromEntries(Object.entries(env).filter(([name]) => !HOST_ONLY.test(name))),
  TMPDIR: '/tmp',
})

/** Whether a folder is or contains the home directory. As the working directory it would expose the whole home. */
export const containsHome = (folder: string, env: Sandbox['env']): boolean =>
  env.HOME !== undefined && isInside(realPath(folder), realPath(env.HOME))

function systemMounts(): string[] {
  const mounts = readdirSync('/')
    .filter((name) => SYSTEM.test(name))
    .flatMap((name) => {
      const folder = `/${name}`
      return lstatSync(folder).isSymbolicLink()
        ? ['--symlink', readlinkSync(folder), folder]
        : ['--ro-bind', folder, folder]
    })
  const linked = SYSTEM_LINKS.map(realPath).filter((file) => !isOfSystem(file) && existsSync(file))
  return [...mounts, ...linked.flatMap((file) => ['--ro-bind', file, file])]
}

const isShown = (folders: readonly string[], file: string) => folders.some((folder) => isInside(folder, file))

/** Removes the folders that are inside another one of the list. */
const outermost = (folders: readonly string[]): string[] =>
  [...new Set(folders)].filter((folder) => !folders.some((other) => other !== folder && isInside(other, folder)))

function realPath(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return file
  }
}
