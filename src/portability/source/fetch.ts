import { decodeFileContent } from '../../http/file-content.ts'
import { unprocessable } from '../../platform/errors.ts'
import { type Lookup, lookupHost } from '../../platform/source/address.ts'
import { collectFiles, filesBelow, type SourceFiles } from '../../platform/source/files.ts'
import { fetchRepository } from '../../platform/source/git.ts'
import { isCommit } from '../../platform/source/git-ref.ts'
import { type Fetch, fetchGithubFolder, parseGithubUrl } from '../../platform/source/github.ts'
import { faultOfPath } from '../../platform/source/paths.ts'
import { PACKAGE_FILES } from './package-files.ts'
import type { PackageSource } from './source-body.ts'
import { readTemplate } from './templates.ts'
import type { PackageWarning } from './warning.ts'

/** A package that is read from its source, but not parsed. */
export interface FetchedPackage {
  files: SourceFiles
  /** Names the source for a person. */
  description: string
  /** The commit of the files, if it is known. */
  commit: string | null
  warnings: PackageWarning[]
}

/** How the server reaches other machines. Tests replace it. */
export interface Network {
  fetch: Fetch
  lookup: Lookup
  /** The `PATH` in which to find the git program. */
  searchPath: string
}

export const internet = (searchPath: string): Network => ({
  fetch: (url, init) => globalThis.fetch(url, init),
  lookup: lookupHost,
  searchPath,
})

/**
 * Fetches the files of a package from its source.
 *
 * @throws AppError 422 if the source is not allowed, not reachable, or contains files that a package must not contain
 */
export async function fetchPackage(source: PackageSource, network: Network): Promise<FetchedPackage> {
  if (source.type === 'github') return fromGithub(source, network)
  if (source.type === 'git') return fromGit(source, network)
  if (source.type === 'template') {
    const files = await readTemplate(source.name)
    return { files, description: `the template ${source.name}`, commit: null, warnings: [] }
  }
  const files = inFolder(decodeFiles(source.files), source.rootPath ?? null)
  return { files, description: 'inline files', commit: null, warnings: [] }
}

async function fromGithub(
  source: Extract<PackageSource, { type: 'github' }>,
  { fetch }: Network,
): Promise<FetchedPackage> {
  const want = parseGithubUrl({ url: source.url, ref: source.ref ?? undefined, folder: source.path ?? undefined })
  const { files, commit } = await fetchGithubFolder(want, fetch, PACKAGE_FILES)
  const folder = want.folder === '' ? '' : ` (${want.folder})`
  const description = `https://github.com/${want.owner}/${want.repo}${folder}`
  return { files, description, commit, warnings: warnUnpinned(want.ref, commit) }
}

async function fromGit(source: Extract<PackageSource, { type: 'git' }>, network: Network): Promise<FetchedPackage> {
  const folder = (source.path ?? '').replaceAll(/^\/+|\/+$/g, '')
  const fault = folder === '' ? undefined : faultOfPath(folder, PACKAGE_FILES)
  if (fault) throw unprocessable('source.path', fault)
  const ref = source.ref ?? null
  const { files, commit } = await fetchRepository({ url: source.url, ref, folder }, network, PACKAGE_FILES)
  return { files, description: source.url, commit, warnings: warnUnpinned(ref, commit) }
}

/** Warns if a ref is not a commit: a branch or tag can change its content after a person has reviewed it. */
function warnUnpinned(ref: string | null, commit: string | null): PackageWarning[] {
  if (ref !== null && isCommit(ref)) return []
  const name = ref ?? 'the default branch'
  const current = commit === null ? '' : ` It currently points to ${commit}.`
  const message = `${name} is not a commit: the same import may bring other files later.${current}`
  return [{ code: 'unpinned_ref', path: null, message }]
}

function decodeFiles(sent: Extract<PackageSource, { type: 'inline' }>['files']): SourceFiles {
  const collected = collectFiles(PACKAGE_FILES)
  for (const [path, content] of Object.entries(sent)) collected.add(path, decodeFileContent(content))
  return collected.files
}

/** Returns the files below a folder. An export names a folder that its paths do not start with: then all files. */
function inFolder(files: SourceFiles, folder: string | null): SourceFiles {
  const prefix = (folder ?? '').replaceAll(/^\/+|\/+$/g, '')
  if (prefix === '') return files
  const fault = faultOfPath(prefix, PACKAGE_FILES)
  if (fault) throw unprocessable('source.rootPath', fault)
  const inside = filesBelow(files, `${prefix}/`)
  return inside.size > 0 ? inside : files
}
