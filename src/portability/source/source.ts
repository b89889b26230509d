import { type Fetch, fetchArchive, parseRepository } from '../../organization/skill/github.ts'
import { unprocessable } from '../../platform/errors.ts'
import type { FileContent, Source } from '../plan/import-body.ts'
import type { PackageWarning } from '../read/package.ts'
import { type Lookup, lookupHost } from './address.ts'
import { below, collectFiles, faultOfPath, type PackageFiles } from './files.ts'
import { fetchRepository } from './git.ts'
import { readTemplate } from './templates.ts'
import { commentOf, readZip } from './zip.ts'

/** The files of a source. */
export interface Fetched {
  files: PackageFiles
  /** Where they come from, for a person. */
  description: string
  /** The commit that they are of, where it is known. */
  commit: string | null
  warnings: PackageWarning[]
}

/** What reaches out of the machine. */
export interface Network {
  fetch: Fetch
  lookup: Lookup
  /** Where the git program is looked for: a `PATH`. */
  searchPath: string
}

export const internet = (searchPath: string): Network => ({
  fetch: (url, init) => globalThis.fetch(url, init),
  lookup: lookupHost,
  searchPath,
})

/**
 * Gets the files of a package.
 *
 * @throws AppError 422 for a place that may not be asked, does not answer, or holds what a package may not
 */
export async function fetchSource(source: Source, network: Network): Promise<Fetched> {
  if (source.type === 'github') return fromGithub(source, network)
  if (source.type === 'git') return fromGit(source, network)
  if (source.type === 'template') {
    const files = await readTemplate(source.name)
    return { files, description: `the template ${source.name}`, commit: null, warnings: [] }
  }
  const files = inFolder(decodeFiles(source.files), source.rootPath ?? null)
  return { files, description: 'files that were sent', commit: null, warnings: [] }
}

async function fromGithub(source: Extract<Source, { type: 'github' }>, { fetch }: Network): Promise<Fetched> {
  const place = parseRepository({
    url: source.url,
    ref: source.ref ?? undefined,
    folder: source.path ?? undefined,
  })
  const zip = await fetchArchive(place, fetch)
  // All of it is in one folder, which is called by the repository and the ref.
  const inside = (path: string) => path.slice(path.indexOf('/') + 1)
  const prefix = place.folder === '' ? '' : `${place.folder}/`
  const archived = readZip(zip, (path) => path.includes('/') && inside(path).startsWith(prefix))
  const files = new Map([...archived].map(([path, bytes]) => [inside(path).slice(prefix.length), bytes]))
  const said = commentOf(zip)
  const commit = COMMIT.test(said) ? said : COMMIT.test(place.ref ?? '') ? place.ref : null
  const description = `https://github.com/${place.owner}/${place.repo}${prefix && ` (${place.folder})`}`
  return { files, description, commit, warnings: warnUnpinned(place.ref, commit) }
}

async function fromGit(source: Extract<Source, { type: 'git' }>, network: Network): Promise<Fetched> {
  const folder = (source.path ?? '').replaceAll(/^\/+|\/+$/g, '')
  const fault = folder === '' ? undefined : faultOfPath(folder)
  if (fault) throw unprocessable('source.path', fault)
  const ref = source.ref ?? null
  const { files, commit } = await fetchRepository({ url: source.url, ref, folder }, network)
  return { files, description: source.url, commit, warnings: warnUnpinned(ref, commit) }
}

const COMMIT = /^[0-9a-f]{40}$/

/** What a branch holds today it may not hold tomorrow: only a commit says what was looked at. */
function warnUnpinned(ref: string | null, commit: string | null): PackageWarning[] {
  if (COMMIT.test(ref ?? '')) return []
  const name = ref ?? 'the default branch'
  const now = commit === null ? '' : ` Now it is ${commit}.`
  const message = `${name} is no commit, so the same import may bring something else later.${now}`
  return [{ code: 'unpinned_ref', path: null, message }]
}

/** Decodes the files of a JSON body. */
export function decodeFiles(sent: Record<string, FileContent>): PackageFiles {
  const collected = collectFiles()
  for (const [path, content] of Object.entries(sent)) {
    collected.add(path, typeof content === 'string' ? Buffer.from(content) : Buffer.from(content.data, 'base64'))
  }
  return collected.files
}

/** The files below the folder that a body names. An export names one that its files are not in: then it is all of them. */
function inFolder(files: PackageFiles, folder: string | null): PackageFiles {
  const prefix = (folder ?? '').replaceAll(/^\/+|\/+$/g, '')
  if (prefix === '') return files
  const fault = faultOfPath(prefix)
  if (fault) throw unprocessable('source.rootPath', fault)
  const inside = below(files, `${prefix}/`)
  return inside.size > 0 ? inside : files
}
