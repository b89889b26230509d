import { hash } from 'node:crypto'
import type { SourceFiles } from '../../platform/source/files.ts'
import { textOf } from '../../platform/source/files.ts'
import { isCommit } from '../../platform/source/git-ref.ts'
import { isMapping, readFrontmatter, writeFrontmatter, type Yaml, YamlFault } from '../../platform/source/yaml.ts'

/**
 * A source in the frontmatter of a SKILL.md (`metadata.sources`) with
 * `usage: referenced`: the text of the skill is in another repository.
 */
export type SkillReference = Yaml

/** Where the text of a reference is. */
export interface ReferenceTarget {
  /** `owner/repo` */
  repository: string
  commit: string
  /** The SKILL.md, or the folder that contains it, in the repository. */
  path: string
  isFolder: boolean
}

/** Returns the reference of a skill, or undefined if the skill contains its text. */
export const referenceOf = (files: SourceFiles): SkillReference | undefined =>
  sourcesOf(matterOf(files.get('SKILL.md'))).find(isReference)

/** Returns the location of the text of a reference, or a clause with the reason why it cannot be fetched. */
export function targetOf(reference: SkillReference): ReferenceTarget | string {
  const { kind, repo, commit, path } = reference
  if (kind !== 'github-file' && kind !== 'github-dir') return 'its source is not a file or folder on GitHub'
  if (typeof repo !== 'string' || typeof path !== 'string') return 'its source names no repository or no path'
  if (typeof commit !== 'string' || !isCommit(commit)) return 'its source is not pinned to a commit'
  return { repository: repo, commit, path: path.replaceAll(/^\/+|\/+$/g, ''), isFolder: kind === 'github-dir' }
}

/** Returns whether fetched bytes match the checksums of a reference, if it has any. */
export function matchesReference({ sha256, blob }: SkillReference, bytes: Uint8Array): boolean {
  if (typeof sha256 === 'string' && sha256.toLowerCase() !== hash('sha256', bytes)) return false
  const object = Buffer.concat([Buffer.from(`blob ${bytes.length}\0`), bytes])
  return typeof blob !== 'string' || blob.toLowerCase() === hash('sha1', object)
}

/**
 * Replaces the text of a reference with the fetched text. The name, the
 * description and the sources in the frontmatter do not change, because they
 * contain the attribution and the license. The usage of the source becomes
 * `mirrored`.
 *
 * @param fetched the files of the skill, with SKILL.md
 * @throws YamlFault
 */
export function withFetchedText(files: SourceFiles, fetched: SourceFiles): SourceFiles {
  const own = matterOf(files.get('SKILL.md'))
  const upstream = readFrontmatter(textOf(fetched.get('SKILL.md')!) ?? '')
  const sources = sourcesOf(own).map((source) => (isReference(source) ? { ...source, usage: 'mirrored' } : source))
  const metadata = { ...mappingOf(upstream.matter.metadata), ...mappingOf(own.metadata), sources }
  const text = writeFrontmatter({ ...upstream.matter, ...own, metadata }, upstream.body)
  return new Map([...files, ...fetched, ['SKILL.md', Buffer.from(text)]])
}

const isReference = (source: Yaml) => source.usage === 'referenced'

function sourcesOf(matter: Yaml): Yaml[] {
  const { sources } = mappingOf(matter.metadata)
  return Array.isArray(sources) ? sources.filter(isMapping) : []
}

const mappingOf = (value: unknown): Yaml => (isMapping(value) ? value : {})

function matterOf(bytes: Uint8Array | undefined): Yaml {
  try {
    return readFrontmatter((bytes && textOf(bytes)) ?? '').matter
  } catch (error) {
    if (error instanceof YamlFault) return {}
    throw error
  }
}
