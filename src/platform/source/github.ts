import { unprocessable } from '../errors.ts'
import { collectInSlices } from '../pause.ts'
import type { FilesRead, SelectFiles } from './files.ts'
import { selectAll } from './files.ts'
import { isCommit, isGitRef } from './git-ref.ts'
import type { FileRules } from './paths.ts'
import { commentOfZip, readZip } from './zip.ts'

/** A folder of a GitHub repository. A `ref` of null is the default branch; an empty `folder` is the whole repository. */
export interface GithubFolder {
  owner: string
  repo: string
  ref: string | null
  folder: string
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** The largest archive, packed, in bytes. */
const MAX_ARCHIVE = 64 * 1024 * 1024
const TIMEOUT_MS = 60_000
const MAX_HOPS = 4

/** The only hosts that the server connects to for a GitHub source. */
const HOSTS: ReadonlySet<string> = new Set(['github.com', 'codeload.github.com', 'raw.githubusercontent.com'])

/**
 * Parses `https://github.com/owner/repo`, optionally with `/tree/<ref>/<folder>`.
 * `ref` and `folder` override the URL. A ref that contains a slash must be
 * passed as `ref`: in the URL it cannot be distinguished from the folder.
 *
 * @throws AppError 422
 */
export function parseGithubUrl(source: {
  url: string
  ref?: string | undefined
  folder?: string | undefined
}): GithubFolder {
  const url = URL.parse(source.url)
  if (!url || !isAllowed(url) || url.hostname !== 'github.com' || url.search || url.hash) {
    throw unprocessable('source.url', 'must be like https://github.com/owner/repo')
  }
  const [owner = '', name = '', tree, urlRef, ...urlFolder] = url.pathname
    .split('/')
    .slice(1)
    .filter(Boolean)
    .map(decode)
  const repo = name.replace(/\.git$/, '')
  if (
    !OWNER.test(owner) ||
    !REPO.test(repo) ||
    /^\.+$/.test(repo) ||
    (tree !== undefined && (tree !== 'tree' || !urlRef))
  ) {
    throw unprocessable(
      'source.url',
      'must be like https://github.com/owner/repo or https://github.com/owner/repo/tree/main/folder',
    )
  }
  const ref = source.ref ?? urlRef ?? null
  if (ref !== null && !isGitRef(ref)) throw unprocessable('source.ref', 'must be a branch, a tag or a commit')
  const folder = (source.folder ?? urlFolder.join('/')).replaceAll(/^\/+|\/+$/g, '')
  if (folder.split('/').some((part) => part === '.' || part === '..')) {
    throw unprocessable('source.folder', 'must be a folder of the repository, without . and ..')
  }
  return { owner, repo, ref, folder }
}

/** The files of a GitHub folder and the commit that they belong to, if it is known. */
export interface GithubFiles extends FilesRead {
  commit: string | null
}

/**
 * Downloads the selected files of a GitHub folder. Paths are relative to that folder.
 *
 * @throws AppError 422
 */
export async function fetchGithubFolder(
  source: GithubFolder,
  fetch: Fetch,
  rules: FileRules,
  select: SelectFiles = selectAll,
): Promise<GithubFiles> {
  const archive = await fetchArchive(source, fetch)
  const prefix = source.folder === '' ? '' : `${source.folder}/`
  // GitHub puts the repository into one folder, named after the repository and the ref.
  const start = (path: string) => path.indexOf('/') + 1 + prefix.length
  const relative = (path: string) => path.slice(start(path))
  const isInside = (path: string) => path.includes('/') && path.startsWith(prefix, path.indexOf('/') + 1)
  const { files, skippedLinks } = await readZip(archive, rules, async (paths) => {
    const selected = await select(await collectInSlices(paths, (path) => (isInside(path) ? relative(path) : undefined)))
    return { has: (path) => isInside(path) && selected.has(relative(path)) }
  })
  const comment = commentOfZip(archive)
  return {
    files: new Map([...files].map(([path, bytes]) => [relative(path), bytes])),
    skippedLinks: skippedLinks.map(relative),
    commit: isCommit(comment) ? comment : source.ref !== null && isCommit(source.ref) ? source.ref : null,
  }
}

/**
 * Downloads a repository as a zip archive over https. It follows redirects to
 * GitHub's own hosts only, and stops when the archive exceeds its limit.
 *
 * @throws AppError 422
 */
export async function fetchArchive({ owner, repo, ref }: GithubFolder, fetch: Fetch): Promise<Uint8Array> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const refPath = (ref ?? 'HEAD').split('/').map(encodeURIComponent).join('/')
  const response = await follow(`https://codeload.github.com/${owner}/${repo}/zip/${refPath}`, fetch, signal)
  if (response.status !== 200) {
    await response.body?.cancel()
    const hint =
      response.status === 404
        ? 'there is no such public repository or ref'
        : `GitHub responded with status ${response.status}`
    throw unprocessable('source', hint)
  }
  return readLimited(response)
}

async function follow(first: string, fetch: Fetch, signal: AbortSignal): Promise<Response> {
  let url = first
  for (let hop = 0; hop < MAX_HOPS; hop++) {
    const response = await fetch(url, { redirect: 'manual', signal, headers: { 'user-agent': 'service' } }).catch(
      (error) => {
        throw unprocessable('source', `GitHub could not be reached (${reasonOf(error)})`)
      },
    )
    if (response.status < 300 || response.status > 399) return response
    await response.body?.cancel()
    const next = URL.parse(response.headers.get('location') ?? '', url)
    if (!next || !isAllowed(next)) throw unprocessable('source', 'GitHub redirects to a foreign host')
    url = next.href
  }
  throw unprocessable('source', 'GitHub redirects too many times')
}

async function readLimited(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of response.body ?? []) {
      size += chunk.length
      // Leaving the loop cancels the download.
      if (size > MAX_ARCHIVE) break
      chunks.push(chunk)
    }
  } catch (error) {
    throw unprocessable('source', `the response of GitHub was incomplete (${reasonOf(error)})`)
  }
  if (size > MAX_ARCHIVE)
    throw unprocessable('source', `the archive of the repository is larger than ${MAX_ARCHIVE} bytes`)
  return Buffer.concat(chunks)
}

const OWNER = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})$/
const REPO = /^[\w.-]{1,100}$/

const isAllowed = (url: URL) =>
  url.protocol === 'https:' && HOSTS.has(url.hostname) && url.port === '' && url.username === '' && url.password === ''

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw unprocessable('source.url', 'has a % that does not start an escape sequence')
  }
}

const reasonOf = (error: unknown) =>
  String((error as { cause?: { code?: string } }).cause?.code ?? (error as Error).name ?? error).slice(0, 100)
