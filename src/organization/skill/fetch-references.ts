import { AppError } from '../../platform/errors.ts'
import { createPause } from '../../platform/pause.ts'
import { filesBelow, type SourceFiles, textOf } from '../../platform/source/files.ts'
import { type Fetch, fetchGithubFolder, parseGithubUrl } from '../../platform/source/github.ts'
import { YamlFault } from '../../platform/source/yaml.ts'
import { SKILL_FILES, validateSkillFiles } from './limits.ts'
import { matchesReference, type ReferenceTarget, referenceOf, targetOf, withFetchedText } from './reference.ts'

/** The maximum number of repositories in one call, and the time limit for all downloads. */
const MAX_REPOSITORIES = 10
const TIMEOUT_MS = 90_000

interface SkillToFetch {
  slug: string
  files: SourceFiles
}

export interface FetchedReferences<Skill> {
  fetched: { skill: Skill; files: SourceFiles }[]
  /** The references that could not be fetched. `reason` is a clause. */
  failed: { skill: Skill; reason: string }[]
}

/**
 * Downloads the texts of all skills that are references, each repository once,
 * at the commit that the reference names. A failure concerns only its skills.
 */
export async function fetchReferences<Skill extends SkillToFetch>(
  skills: readonly Skill[],
  fetch: Fetch,
): Promise<FetchedReferences<Skill>> {
  const result: FetchedReferences<Skill> = { fetched: [], failed: [] }
  const wanted: Wanted<Skill>[] = []
  const pause = createPause()
  for (const skill of skills) {
    await pause()
    const reference = referenceOf(skill.files)
    if (!reference) continue
    const target = targetOf(reference)
    if (typeof target === 'string') result.failed.push({ skill, reason: target })
    else wanted.push({ skill, target })
  }
  const deadline = AbortSignal.timeout(TIMEOUT_MS)
  const fetchInTime: Fetch = (url, init) =>
    fetch(url, { ...init, signal: AbortSignal.any([deadline, ...(init.signal ? [init.signal] : [])]) })
  const repositories = Map.groupBy(wanted, ({ target }) => `${target.repository}@${target.commit}`)
  for (const [n, group] of [...repositories.values()].entries()) {
    if (n >= MAX_REPOSITORIES)
      failAll(group, `the package refers to more than ${MAX_REPOSITORIES} repositories`, result)
    else await fetchGroup(group, fetchInTime, result)
  }
  return result
}

interface Wanted<Skill> {
  skill: Skill
  target: ReferenceTarget
}

function failAll<Skill>(group: readonly Wanted<Skill>[], reason: string, { failed }: FetchedReferences<Skill>): void {
  for (const { skill } of group) failed.push({ skill, reason })
}

/** Fetches the references to one commit of one repository. */
async function fetchGroup<Skill extends SkillToFetch>(
  group: readonly Wanted<Skill>[],
  fetch: Fetch,
  result: FetchedReferences<Skill>,
): Promise<void> {
  const { repository, commit } = group[0]!.target
  const places = Map.groupBy(
    group.map(({ target }) => target),
    ({ isFolder }) => isFolder,
  )
  const [folders, singles] = [true, false].map((kind) => new Set(places.get(kind)?.map(({ path }) => path)))
  const isWanted = (path: string) => LICENSE.test(path) || singles!.has(path) || isBelow(folders!, path)
  const pause = createPause()
  try {
    const folder = parseGithubUrl({ url: `https://github.com/${repository}`, ref: commit, folder: '' })
    const { files } = await fetchGithubFolder(folder, fetch, SKILL_FILES, () => ({ has: isWanted }))
    for (const { skill, target } of group) {
      await pause()
      const merged = mergeText(skill, target, files)
      if (typeof merged === 'string') result.failed.push({ skill, reason: merged })
      else result.fetched.push({ skill, files: merged })
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    failAll(group, error.message, result)
  }
}

/** A license in the top folder of the repository. */
const LICENSE = /^(LICEN[CS]E|COPYING)(\.md|\.txt)?$/i

/** Whether a file is below one of the folders. The folder '' contains all files. */
function isBelow(folders: ReadonlySet<string>, file: string): boolean {
  for (let end = file.lastIndexOf('/'); end > 0; end = file.lastIndexOf('/', end - 1)) {
    if (folders.has(file.slice(0, end))) return true
  }
  return folders.has('')
}

/** Returns the files of a skill with the fetched text, or a clause with the reason why they cannot be used. */
function mergeText(skill: SkillToFetch, target: ReferenceTarget, repository: SourceFiles): SourceFiles | string {
  const { path, isFolder } = target
  const own: SourceFiles = isFolder
    ? filesBelow(repository, path === '' ? '' : `${path}/`)
    : new Map(repository.has(path) ? [['SKILL.md', repository.get(path)!]] : [])
  const text = own.get('SKILL.md')
  if (!text || textOf(text) === undefined) return `there is no text file ${path}${isFolder ? '/SKILL.md' : ''} in it`
  if (!matchesReference(referenceOf(skill.files)!, text)) return 'its text differs from the checksum of the reference'
  try {
    const files = withFetchedText(skill.files, own)
    const license = [...repository].find(([file]) => LICENSE.test(file))
    if (license && ![...files.keys()].some((file) => LICENSE.test(file))) files.set(...license)
    return validateSkillFiles(files)
  } catch (error) {
    if (error instanceof YamlFault) return `its frontmatter ${error.message}`
    if (error instanceof AppError) return error.message
    throw error
  }
}
