import { spawn } from 'node:child_process'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { unprocessable } from '../../platform/errors.ts'
import { type Lookup, requirePublicUrl } from './address.ts'
import {
  badPackage,
  collectFiles,
  LIMITS,
  type PackageFiles,
  tooLarge,
  tooLargeTogether,
  tooManyFiles,
} from './files.ts'

/** How long a repository may take to come, in milliseconds, and how large it may be, packed, in bytes. */
const TIMEOUT_MS = 60_000
const MAX_PACK = 64 * 1024 * 1024

/**
 * Gets a folder of a repository by the `git` program, over https alone: one
 * commit, into a bare repository that is thrown away. Nothing is checked out,
 * so no hook, filter or symbolic link of it ever comes to life.
 *
 * @param source.ref a branch, tag or commit; null for the default branch
 * @throws AppError 422
 */
export async function fetchRepository(
  source: { url: string; ref: string | null; folder: string },
  { lookup, searchPath }: { lookup: Lookup; searchPath: string },
): Promise<{ files: PackageFiles; commit: string }> {
  const { url, address } = await requirePublicUrl(source.url, 'source.url', lookup)
  if (source.ref !== null && !isRef(source.ref))
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
    await watched(repository, (signal) => git(run, [...args, '--', url.href, source.ref ?? 'HEAD'], { signal }))
    return await readRepository(repository, 'FETCH_HEAD', source.folder, searchPath)
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

/** Reads the files below a folder of a commit out of a repository on this machine, without checking it out. */
export async function readRepository(
  repository: string,
  commitish: string,
  folder: string,
  searchPath: string,
): Promise<{ files: PackageFiles; commit: string }> {
  const run = { home: repository, searchPath }
  const ask = (args: string[], input?: string) => git(run, ['-C', repository, ...args], { input })
  const commit = (await ask(['rev-parse', '--verify', '--end-of-options', `${commitish}^{commit}`])).toString().trim()
  const tree = folder === '' ? commit : `${commit}:${folder}`
  const listing = (await ask(['ls-tree', '-r', '-z', '--long', '--full-tree', '--end-of-options', tree])).toString()
  const entries = listing.split('\0').filter(Boolean).map(parseEntry)
  checkSizes(entries)
  const collected = collectFiles()
  const blobs = await ask(['cat-file', '--batch'], entries.map((entry) => `${entry.id}\n`).join(''))
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

function checkSizes(entries: readonly Entry[]): void {
  if (entries.length > LIMITS.files) throw tooManyFiles(LIMITS.files)
  for (const { mode, size, path } of entries) {
    if (mode === '120000') throw badPackage('is a symbolic link, and a package may not have any', path)
    if (mode === '160000') throw badPackage('is a repository in the repository, which is not fetched', path)
    if (size > LIMITS.fileBytes) throw tooLarge(path, LIMITS.fileBytes)
  }
  const total = entries.reduce((sum, entry) => sum + entry.size, 0)
  if (total > LIMITS.totalBytes) throw tooLargeTogether(LIMITS.totalBytes)
}

/** What every call is told: nothing of the user's or the machine's settings, no other protocol, no redirect, no prompt. */
const SETTINGS = [
  ...['protocol.allow=never', 'protocol.https.allow=always', 'http.followRedirects=false', 'credential.helper='],
  ...['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'gc.auto=0', 'maintenance.auto=false'],
].flatMap((setting) => ['-c', setting])

/** Runs git and gives what it prints. */
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
  const stop = () => {
    try {
      // Its helpers too: they are of its group.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // It has ended.
    }
  }
  signal?.addEventListener('abort', stop)
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
    throw unprocessable('source', 'the git program is not on this machine; use a github source or send the files')
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}

const lastLine = (text: string) => text.trim().split('\n').at(-1)?.slice(0, 200) || 'it failed'

/** Lets a fetch go on while its repository is within its limits. */
async function watched<T>(repository: string, fetch: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limits = new AbortController()
  const late = setTimeout(() => limits.abort('the repository takes too long to come'), TIMEOUT_MS)
  const check = setInterval(async () => {
    if ((await sizeOf(path.join(repository, 'objects', 'pack'))) > MAX_PACK) limits.abort('the repository is too large')
  }, 250)
  try {
    return await fetch(limits.signal)
  } finally {
    clearTimeout(late)
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

/** What git allows in a ref, and no more than is needed; never an option. */
const isRef = (ref: string) => /^\w[\w./+@-]{0,199}$/.test(ref) && !/\.\.|\/\/|@\{|\/$|\.$|\/\./.test(ref)
