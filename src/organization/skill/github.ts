import { unprocessable } from '../../platform/errors.ts'

/** A place in a repository on GitHub. `ref` null is its default branch; `folder` empty is its top. */
export interface Repository {
  owner: string
  repo: string
  ref: string | null
  folder: string
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** Of a whole archive, packed, in bytes. */
const MAX_ARCHIVE = 64 * 1024 * 1024
const TIMEOUT_MS = 60_000
const MAX_HOPS = 4

/** The only hosts that are ever asked. */
const HOSTS: ReadonlySet<string> = new Set(['github.com', 'codeload.github.com', 'raw.githubusercontent.com'])

/**
 * Reads `https://github.com/owner/repo`, perhaps with `/tree/<ref>/<folder>`.
 * What is named beside the URL wins. A ref with a slash has to be named there.
 *
 * @throws AppError 422
 */
export function parseRepository(source: {
  url: string
  ref?: string | undefined
  folder?: string | undefined
}): Repository {
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
  if (ref !== null && !isRef(ref)) throw unprocessable('source.ref', 'must be a branch, a tag or a commit')
  const folder = (source.folder ?? urlFolder.join('/')).replaceAll(/^\/+|\/+$/g, '')
  if (folder.split('/').some((part) => part === '.' || part === '..')) {
    throw unprocessable('source.folder', 'must be a folder of the repository, without . and ..')
  }
  return { owner, repo, ref, folder }
}

/**
 * Gets a repository as a zip archive, over https, from GitHub's hosts alone:
 * a redirect to anywhere else is refused, and the size is held while it comes.
 *
 * @throws AppError 422
 */
export async function fetchArchive({ owner, repo, ref }: Repository, fetch: Fetch): Promise<Uint8Array> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const refPath = (ref ?? 'HEAD').split('/').map(encodeURIComponent).join('/')
  const response = await follow(`https://codeload.github.com/${owner}/${repo}/zip/${refPath}`, fetch, signal)
  if (response.status !== 200) {
    await response.body?.cancel()
    const hint =
      response.status === 404 ? 'there is no such public repository or ref' : `GitHub answered ${response.status}`
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
    if (!next || !isAllowed(next)) throw unprocessable('source', 'GitHub redirects to a place that is not its own')
    url = next.href
  }
  throw unprocessable('source', 'GitHub redirects too often')
}

async function readLimited(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of response.body ?? []) {
      size += chunk.length
      // Leaving the loop cancels the rest.
      if (size > MAX_ARCHIVE) break
      chunks.push(chunk)
    }
  } catch (error) {
    throw unprocessable('source', `the answer of GitHub broke off (${reasonOf(error)})`)
  }
  if (size > MAX_ARCHIVE)
    throw unprocessable('source', `the archive of the repository is larger than ${MAX_ARCHIVE} bytes`)
  return Buffer.concat(chunks)
}

const OWNER = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})$/
const REPO = /^[\w.-]{1,100}$/

/** What git allows in a ref, and no more than is needed. */
const isRef = (ref: string) => /^[\w][\w./+@-]{0,199}$/.test(ref) && !/\.\.|\/\/|@\{|\/$|\.$|\/\./.test(ref)

const isAllowed = (url: URL) =>
  url.protocol === 'https:' && HOSTS.has(url.hostname) && url.port === '' && url.username === '' && url.password === ''

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw unprocessable('source.url', 'has a % that stands for nothing')
  }
}

const reasonOf = (error: unknown) =>
  String((error as { cause?: { code?: string } }).cause?.code ?? (error as Error).name ?? error).slice(0, 100)
