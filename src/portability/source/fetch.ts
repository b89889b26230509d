import { unprocessable } from '../../platform/errors.ts'
import { type Lookup, lookupHost } from '../../platform/source/address.ts'
import type { SourceFiles } from '../../platform/source/files.ts'
import { fetchRepository } from '../../platform/source/git.ts'
import { isCommit } from '../../platform/source/git-ref.ts'
import { type Fetch, fetchGithubFolder, parseGithubUrl } from '../../platform/source/github.ts'
import { faultOfPath } from '../../platform/source/paths.ts'
import type { InlineFiles } from './inline.ts'
import { PACKAGE_FILES } from './package-files.ts'
import type { PackageSource } from './source-body.ts'
import { readTemplate } from './templates.ts'
import type { PackageWarning } from './warning.ts'

/** A package that is read from its source, but not parsed. */
export interface FetchedPackage {
  /** Inline files are decoded in the thread that reads the package. */
  files: SourceFiles | InlineFiles
  /** Names the source for a person. */
  description: string
  /** The commit of the files, if it is known. */
  commit: string | null
  warnings: PackageWarning[]
  /** The field of the source that selects a folder, and its value. Null if the source has no such field. */
  folder: { field: string; value: string } | null
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
    return { files, description: `the template ${source.name}`, commit: null, warnings: [], folder: null }
  }
  const files = { inline: source.files, rootPath: source.rootPath ?? null }
  const folder = { field: 'rootPath', value: source.rootPath ?? '' }
  return { files, description: 'inline files', commit: null, warnings: [], folder }
}

async function fromGithub(
  source: Extract<PackageSource, { type: 'github' }>,
  { fetch }: Network,
): Promise<FetchedPackage> {
  const want = parseGithubUrl({ url: source.url, ref: source.ref ?? undefined, folder: source.path ?? undefined })
  const { files, commit } = await fetchGithubFolder(want, fetch, PACKAGE_FILES)
  const folder = want.folder === '' ? '' : ` (${want.folder})`
  const description = `https://github.com/${want.owner}/${want.repo}${folder}`
  return {
    files,
    description,
    commit,
    warnings: warnUnpinned(want.ref, commit),
    folder: { field: 'path', value: want.folder },
  }
}

async function fromGit(source: Extract<PackageSource, { type: 'git' }>, network: Network): Promise<FetchedPackage> {
  const folder = (source.path ?? '').replaceAll(/^\/+|\/+$/g, '')
  const fault = folder === '' ? undefined : faultOfPath(folder, PACKAGE_FILES)
  if (fault) throw unprocessable('source.path', fault)
  const ref = source.ref ?? null
  const { files, commit } = await fetchRepository({ url: source.url, ref, folder }, network, PACKAGE_FILES)
  const warnings = warnUnpinned(ref, commit)
  return { files, description: source.url, commit, warnings, folder: { field: 'path', value: folder } }
}

/** Warns if a ref is not a commit: a branch or tag can change its content after a person has reviewed it. */
function warnUnpinned(ref: string | null, commit: string | null): PackageWarning[] {
  if (ref !== null && isCommit(ref)) return []
  const name = ref ?? 'the default branch'
  const current = commit === null ? '' : ` It currently points to ${commit}.`
  const message = `${name} is not a commit: a later import may contain other files.${current}`
  return [{ code: 'unpinned_ref', path: null, message }]
}
