import { spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

export interface GitOptions {
  /** The PATH to search for `git`. */
  searchPath: string
  cwd: string
  /** The program and arguments that isolate git. */
  wrapper?: readonly string[]
  env?: Record<string, string>
  input?: string
  /** The size limit of the output, in bytes. At the limit, git is killed and the output is truncated. */
  maxBytes?: number
  timeoutMs?: number
}

export interface GitOutput {
  text: string
  isCut: boolean
}

/** A failed git command. The message is git's standard error. */
export class GitError extends Error {}

const TIMEOUT_MS = 10_000
const MAX_BYTES = 4 * 1024 * 1024

/**
 * Settings that override the configuration of a repository, which an agent may
 * have written. With them, git runs no hook, file system monitor, pager,
 * credential helper or transport.
 */
const SAFE_SETTINGS = [
  'core.hooksPath=/dev/null',
  // Git 2.54 also runs hooks that the configuration names. These events occur in the commands of this service.
  ...['reference-transaction', 'post-checkout', 'post-index-change'].map((event) => `hook.${event}.enabled=false`),
  'core.fsmonitor=false',
  'core.pager=cat',
  'core.attributesFile=/dev/null',
  'core.sshCommand=false',
  'credential.helper=',
  'protocol.allow=never',
  'submodule.recurse=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'log.showSignature=false',
  'safe.directory=*',
]

/** Prevents git from reading the configuration of the user and of the system. */
const SAFE_ENV = {
  LC_ALL: 'C',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_OPTIONAL_LOCKS: '0',
}

/**
 * Runs git with a time limit.
 *
 * These settings do not disable the filters and diff drivers of a repository.
 * A command that would use them runs in `withOwnGitDir` instead.
 *
 * @throws GitError if git fails, is missing or exceeds the time limit
 */
export function runGit(args: readonly string[], options: GitOptions): Promise<GitOutput> {
  const { promise, resolve, reject } = Promise.withResolvers<GitOutput>()
  const git = ['git', ...SAFE_SETTINGS.flatMap((setting) => ['-c', setting]), ...args]
  const [program, ...rest] = [...(options.wrapper ?? []), ...git]
  const child = spawn(program!, rest, {
    cwd: options.cwd,
    env: { PATH: options.searchPath, ...SAFE_ENV, ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: options.timeoutMs ?? TIMEOUT_MS,
    killSignal: 'SIGKILL',
  })
  const maxBytes = options.maxBytes ?? MAX_BYTES
  const chunks: Buffer[] = []
  let bytes = 0
  let errors = ''
  child.stdout.on('data', (chunk: Buffer) => {
    if (bytes < maxBytes) chunks.push(chunk.subarray(0, maxBytes - bytes))
    bytes += chunk.length
    if (bytes > maxBytes) child.kill('SIGKILL')
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (errors.length < 2_000) errors += text
  })
  child.on('error', (error) => reject(new GitError(`git cannot be run: ${error.message}`)))
  child.on('close', (code, signal) => {
    const isCut = bytes > maxBytes
    if (code === 0 || isCut) resolve({ text: Buffer.concat(chunks).toString('utf8'), isCut })
    else reject(new GitError(signal ? 'git exceeded its time limit' : errors.trim() || `git exited with code ${code}`))
  })
  child.stdin.on('error', () => {}) // git may exit before it has read its input
  child.stdin.end(options.input ?? '')
  return promise
}

/**
 * Returns the environment that turns off every hook that the configuration of a
 * repository names: git 2.54 can turn them off only by their names.
 */
export async function withoutNamedHooks(searchPath: string, cwd: string): Promise<Record<string, string>> {
  const { text } = await runGit(['config', '--null', '--name-only', '--get-regexp', '^hook\\.'], {
    searchPath,
    cwd,
  }).catch(() => ({ text: '' })) // no such key
  const keys = text.split('\0').map((key) => /^hook\.(.+)\.[^.]+$/s.exec(key)?.[1])
  const names = [...new Set(keys.filter((name) => name !== undefined))]
  const settings = names.flatMap((name, n) => [
    [`GIT_CONFIG_KEY_${n}`, `hook.${name}.enabled`],
    [`GIT_CONFIG_VALUE_${n}`, 'false'],
  ])
  return { GIT_CONFIG_COUNT: String(names.length), ...Object.fromEntries(settings) }
}

/** A repository as its own files describe it. Paths are absolute. */
export interface Repository {
  /** The folder that holds the working tree. */
  topFolder: string
  /** The path of the examined folder below `topFolder`: empty, or with a slash at its end. */
  prefix: string
  commonDir: string
  gitDir: string
  objectFormat: string
}

/**
 * Finds the repository that contains a folder.
 *
 * @throws GitError if the folder is not inside a git repository with a working tree
 */
export async function findRepository(searchPath: string, cwd: string): Promise<Repository> {
  const options = ['--show-toplevel', '--git-common-dir', '--git-dir', '--show-object-format', '--show-prefix']
  const { text } = await runGit(['rev-parse', '--path-format=absolute', ...options], { searchPath, cwd })
  const [topFolder = '', commonDir = '', gitDir = '', objectFormat = 'sha1', prefix = ''] = text.split('\n')
  return { topFolder, commonDir, gitDir, objectFormat, prefix }
}

/** Returns the program and arguments that isolate git, which works in a folder and writes the other ones. */
export type Wrap = (cwd: string, writable: readonly string[]) => readonly string[]

/** Runs git on the objects of a repository; `tree` is the folder of the working tree. */
export type OwnGit = (args: readonly string[], options?: Omit<GitOptions, 'searchPath' | 'cwd'>) => Promise<GitOutput>

/**
 * Calls `use` with a git that reads the objects of a repository, but not its
 * configuration. Filters, diff drivers and text conversions that an agent
 * configured therefore have no effect. New objects and the index go to a
 * temporary folder, which is removed afterwards.
 *
 * @param wrap isolates each command
 */
export async function withOwnGitDir<Result>(
  searchPath: string,
  { commonDir, objectFormat }: Pick<Repository, 'commonDir' | 'objectFormat'>,
  tree: string,
  use: (git: OwnGit, gitDir: string) => Promise<Result>,
  wrap: Wrap = () => [],
): Promise<Result> {
  const gitDir = await mkdtemp(path.join(tmpdir(), 'service-git-'))
  try {
    for (const folder of ['objects/info', 'refs/heads', 'info'])
      await mkdir(path.join(gitDir, folder), { recursive: true })
    const files = {
      HEAD: 'ref: refs/heads/none\n',
      config: `[core]\nrepositoryformatversion = 1\nbare = false\n[extensions]\nobjectFormat = ${objectFormat}\n`,
      'objects/info/alternates': `${path.join(commonDir, 'objects')}\n`,
    }
    for (const [name, text] of Object.entries(files)) await writeFile(path.join(gitDir, name), text)
    // The local list of ignored files, and the boundary of a shallow clone.
    for (const name of ['info/exclude', 'shallow'])
      await copyIfFile(path.join(commonDir, name), path.join(gitDir, name))
    const git: OwnGit = (args, options) =>
      runGit([`--git-dir=${gitDir}`, `--work-tree=${tree}`, ...args], {
        ...options,
        searchPath,
        cwd: tree,
        wrapper: wrap(tree, [gitDir]),
      })
    return await use(git, gitDir)
  } finally {
    await rm(gitDir, { recursive: true, force: true })
  }
}

/** In bytes. */
const LARGEST_COPY = 64 * 1024 * 1024

/**
 * Copies a regular file of a folder that runs write. It follows no link, and
 * does not wait for a writer: a run may have left a named pipe in its place.
 */
export async function copyIfFile(from: string, to: string): Promise<void> {
  const file = await open(from, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW).catch(() => undefined)
  if (!file) return
  try {
    const found = await file.stat()
    if (found.isFile() && found.size <= LARGEST_COPY) await writeFile(to, await file.readFile())
  } finally {
    await file.close()
  }
}
