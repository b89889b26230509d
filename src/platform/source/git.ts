import { spawn } from 'node:child_process'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { unprocessable } from '../errors.ts'
import { type Lookup, requirePublicUrl } from './address.ts'
import { collectFiles, fileTooLarge, type SourceFiles, tooManyFiles, totalTooLarge } from './files.ts'
import { isGitRef } from './git-ref.ts'
import type { FileRules } from './paths.ts'

/** The maximum time of a fetch, in milliseconds. */
const TIMEOUT_MS = 60_000
/** The largest repository, packed, in bytes. */
const MAX_PACK = 64 * 1024 * 1024

/**
 * Fetches a folder of a repository with the `git` program, over https only.
 * It fetches one commit into a temporary bare repository, without a checkout.
 * Hooks, filters and symbolic links of the repository therefore have no effect.
 *
 * @param source.ref a branch, tag or commit; null for the default branch
 * @throws AppError 422
 */
export async function fetchRepository(
  source: { url: string; ref: string | null; folder: string },
  { lookup, searchPath }: { lookup: Lookup; searchPath: string },
  rules: FileRules,
): Promise<{ files: SourceFiles; commit: string }> {
  const { url, address } = await requirePublicUrl(source.url, 'source.url', lookup)
  if (source.ref !== null && !isGitRef(source.ref))
    throw unprocessable('source.ref', 'must be a branch, a tag or a commit')
  const home = await mkdtemp(path.join(tmpdir(), 'service-git-'))
  const repository = path.join(home, 'repository')
  try {
    const run = { home, searchPath }
    await git(run, ['init', '--quiet', '--bare', repository])
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
    const pinned = `http.curloptResolve=${host}:443:${address.includes(':') ? `[${address}]` : address}`
    const args = [
      '-c',
      pinned,
      '-C',
      repository,
      'fetch',
      '--quiet',
      '--depth=1',
      '--no-tags',
      '--no-recurse-submodules',
    ]
    await withinLimits(repository, (signal) => git(run, [...args, '--', url.href, source.ref ?? 'HEAD'], { signal }))
    return await readRepository(repository, 'FETCH_HEAD', source.folder, searchPath, rules)
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

/** Reads the files below a folder of a commit from a local repository, without a checkout. */
export async function readRepository(
  repository: string,
  commitish: string,
  folder: string,
  searchPath: string,
  rules: FileRules,
): Promise<{ files: SourceFiles; commit: string }> {
  const run = { home: repository, searchPath }
  const runGit = (args: string[], input?: string) => git(run, ['-C', repository, ...args], { input })
  const commit = (await runGit(['rev-parse', '--verify', '--end-of-options', `${commitish}^{commit}`]))
    .toString()
    .trim()
  const tree = folder === '' ? commit : `${commit}:${folder}`
  const listing = (await runGit(['ls-tree', '-r', '-z', '--long', '--full-tree', '--end-of-options', tree])).toString()
  const entries = listing.split('\0').filter(Boolean).map(parseEntry)
  checkEntries(entries, rules)
  const collected = collectFiles(rules)
  const blobs = await runGit(['cat-file', '--batch'], entries.map((entry) => `${entry.id}\n`).join(''))
  let at = 0
  for (const { path: file, size } of entries) {
    // Each blob is `<id> blob <size>\n`, its bytes, and a line end.
    const start = blobs.indexOf(0x0a, at) + 1
    collected.add(file, blobs.subarray(start, start + size))
    at = start + size + 1
  }
  return { files: collected.files, commit }
}

interface Entry {
  mode: string
  id: string
  size: number
  path: string
}

function parseEntry(line: string): Entry {
  const tab = line.indexOf('\t')
  const [mode = '', , id = '', size] = line.slice(0, tab).split(/ +/)
  return { mode, id, size: Number(size), path: line.slice(tab + 1) }
}

function checkEntries(entries: readonly Entry[], rules: FileRules): void {
  const { limits, refuse } = rules
  if (entries.length > limits.files) throw tooManyFiles(rules)
  for (const { mode, size, path } of entries) {
    if (mode === '120000') throw refuse('is a symbolic link', path)
    if (mode === '160000') throw refuse('is a submodule, which is not supported', path)
    if (size > limits.fileBytes) throw fileTooLarge(rules, path)
  }
  const total = entries.reduce((sum, entry) => sum + entry.size, 0)
  if (total > limits.totalBytes) throw totalTooLarge(rules)
}

/** Settings of every git call: https only, no redirects, no credentials, no hooks, no background work. */
const SETTINGS = [
  ...['protocol.allow=never', 'protocol.https.allow=always', 'http.followRedirects=false', 'credential.helper='],
  ...['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'gc.auto=0', 'maintenance.auto=false'],
].flatMap((setting) => ['-c', setting])

/** Runs git without the settings of the user and the machine. Returns its standard output. */
async function git(
  { home, searchPath }: { home: string; searchPath: string },
  args: string[],
  { input = '', signal }: { input?: string | undefined; signal?: AbortSignal } = {},
) {
  const env = {
    PATH: searchPath,
    HOME: home,
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '',
  }
  const child = spawn('git', [...SETTINGS, ...args], { env, stdio: ['pipe', 'pipe', 'pipe'], detached: true })
  const kill = () => {
    try {
      // The process group includes the helpers of git.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // The process has already exited.
    }
  }
  signal?.addEventListener('abort', kill)
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  try {
    const [out, err, code] = await Promise.all([buffer(child.stdout), buffer(child.stderr), ended])
    if (code === 0) return out
    throw unprocessable('source', signal?.aborted ? String(signal.reason) : `git: ${lastLine(err.toString())}`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw unprocessable(
      'source',
      'the git program is not installed on this machine; use a github source or send the files',
    )
  } finally {
    signal?.removeEventListener('abort', kill)
  }
}

const lastLine = (text: string) => text.trim().split('\n').at(-1)?.slice(0, 200) || 'the command failed'

/** Runs a fetch, and aborts it when it takes too long or the repository becomes too large. */
async function withinLimits<T>(repository: string, fetch: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limits = new AbortController()
  const timeout = setTimeout(
    () => limits.abort(`the repository was not fetched within ${TIMEOUT_MS / 1000} seconds`),
    TIMEOUT_MS,
  )
  const check = setInterval(async () => {
    if ((await sizeOf(path.join(repository, 'objects', 'pack'))) > MAX_PACK)
      limits.abort(`the repository is larger than ${MAX_PACK} bytes`)
  }, 250)
  try {
    return await fetch(limits.signal)
  } finally {
    clearTimeout(timeout)
    clearInterval(check)
  }
}

async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => [])
  const sizes = await Promise.all(
    names.map((name) =>
      stat(path.join(folder, name)).then(
        (file) => file.size,
        () => 0,
      ),
    ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
