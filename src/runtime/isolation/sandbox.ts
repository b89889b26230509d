import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync } from 'node:fs'
import path from 'node:path'
import type { UserFiles } from '../../adapter/adapter.ts'
import { isInside } from '../../platform/real-path.ts'
import { findProgram } from '../process/capabilities.ts'
import type { WorkingBubblewrap } from './bubblewrap.ts'

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
  userFiles: UserFiles
  /** The environment of the command: HOME and PATH are read from it. */
  env: Readonly<Record<string, string>>
  command: string
}

/** The folders of the root directory that belong to the system. Files of users and changing data (/home, /root, /var, /run, /mnt) do not. */
const SYSTEM = /^(usr|s?bin|lib(32|64|x32)?|etc|opt|nix|gnu|sys)$/

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
  const { dataDir, stateDir, cwd, userFiles, env, command } = sandbox
  const opens: string[] = []
  /** Mounts files by their file descriptors, so that nobody can replace them between the check and the mount. */
  const mount = (how: '--bind' | '--ro-bind', files: readonly string[]) =>
    files.flatMap((file) => {
      if (!bwrap.bindsDescriptors) return [how, file, file]
      return [`${how}-fd`, String(FIRST_DESCRIPTOR + opens.push(file) - 1), file]
    })
  const home = env.HOME ?? '/nonexistent'
  const candidates = [...sandbox.readable, ...programFolders(command, env.PATH ?? '', home)]
  /** Returns the mounts of the paths that match: those inside the data directory, or those outside. */
  const bind = (isOfZone: (file: string) => boolean): string[] => {
    const writable = outermost(sandbox.writable.filter(isOfZone))
    const isVisible = (file: string) => writable.some((folder) => isInside(folder, file))
    const readable = outermost(candidates.filter((file) => isOfZone(file) && !isVisible(file) && existsSync(file)))
    const guarded = sandbox.guarded.filter(isOfZone)
    return [...mount('--ro-bind', readable), ...mount('--bind', writable), ...mount('--ro-bind', guarded)]
  }
  const hidden = [...new Set([dataDir, realPath(dataDir)])]
  const isData = (file: string) => isInside(dataDir, file)
  const argv = [
    bwrap.path,
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--new-session', '--cap-drop', 'ALL'],
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
  const linked = SYSTEM_LINKS.map(realPath).filter((file) => !SYSTEM.test(file.split('/')[1]!) && existsSync(file))
  return [...mounts, ...linked.flatMap((file) => ['--ro-bind', file, file])]
}

/**
 * Lists the folders that the command and `node`, on which most agent programs
 * run, need if they are installed outside the system, such as in the home
 * directory: each step of their links, and the modules beside them.
 */
function programFolders(command: string, searchPath: string, home: string): string[] {
  const folders = [command, 'node'].flatMap((name) => {
    const found = findProgram(name, searchPath)
    return found ? stepsOf(found).map(folderOf) : []
  })
  return [...new Set(folders)].filter((folder) => !SYSTEM.test(folder.split('/')[1]!) && !isInside(folder, home))
}

/** Returns a file and each target of its chain of symbolic links. */
function stepsOf(file: string): string[] {
  if (!lstatSync(file).isSymbolicLink()) return [file]
  return [file, ...stepsOf(path.resolve(realPath(path.dirname(file)), readlinkSync(file)))]
}

/** Returns the outermost `node_modules` of a module, or the folder if it is named `bin`, or the file alone. */
function folderOf(file: string): string {
  const modules = /^(.*?\/node_modules)\//.exec(file)?.[1]
  if (modules) return modules
  return path.basename(path.dirname(file)) === 'bin' ? path.dirname(file) : file
}

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
