import { unprocessable } from '../../platform/errors.ts'
import { collectInSlices } from '../../platform/pause.ts'
import type { SelectFiles, SourceFiles } from '../../platform/source/files.ts'
import { slugOf } from '../../platform/url-key.ts'
import { readSkillHead } from './frontmatter.ts'
import { digestOf, type InventoryEntry, type TrustLevel, takeInventory, trustLevelOf } from './inventory.ts'
import { assertSkillSize, badSkillFile, SKILL_FILES, validateSkillFiles } from './limits.ts'

/** Where a skill comes from. */
export interface SkillSource {
  type: 'bundled' | 'inline' | 'local_path' | 'github'
  /** The prefix of the key of a hosted skill: `owner/repo`. Null for skills of the company itself. */
  namespace: string | null
  /** The folder or the URL. Null for inline files. */
  locator: string | null
  ref: string | null
}

/** A valid skill that is not stored yet. */
export interface ReadSkill {
  key: string
  slug: string
  name: string
  description: string | null
  source: SkillSource
  trustLevel: TrustLevel
  inventory: InventoryEntry[]
  digest: string
  /** Paths are relative to the folder of the skill. */
  files: SourceFiles
}

/**
 * Reads all skills among some files. Each folder with a SKILL.md is a skill. It
 * contains the files below it, except those of a skill in a subfolder.
 *
 * @param fallbackName the name of a skill in the top folder without a name in its frontmatter
 * @returns the skills in the order of their keys, and the files that belong to no skill
 * @throws AppError 422
 */
export function readSkills(
  files: ReadonlyMap<string, Uint8Array>,
  source: SkillSource,
  fallbackName: string | null,
): { skills: ReadSkill[]; ignored: string[] } {
  validateSkillFiles(files)
  const { owned, ignored } = ownersOf([...files.keys()])
  if (owned.size === 0) throw unprocessable('files', 'there is no SKILL.md among them')
  const filesOf = new Map<string, Map<string, Uint8Array>>()
  for (const [path, folder] of owned) {
    const own = filesOf.get(folder) ?? new Map<string, Uint8Array>()
    filesOf.set(folder, own.set(path.slice(folder.length), files.get(path)!))
  }
  const skills = new Map<string, ReadSkill>()
  for (const [folder, own] of filesOf) {
    const skill = readSkill(folder, own, source, fallbackName)
    if (skills.has(skill.key))
      throw badSkillFile(`${folder}SKILL.md`, `has the slug ${skill.slug}, like another skill of this import`)
    skills.set(skill.key, skill)
  }
  return { skills: [...skills.values()].sort((a, b) => (a.key < b.key ? -1 : 1)), ignored }
}

/**
 * Maps each path to the folder of the skill that it belongs to. The folder
 * ends in a slash; the top folder is empty. `ignored` lists the other paths.
 */
function ownersOf(paths: readonly string[]): { owned: Map<string, string>; ignored: string[] } {
  const folders = new Set(paths.flatMap((path) => folderOfSkillFile(path) ?? []))
  const owned = new Map<string, string>()
  const ignored: string[] = []
  for (const path of paths) {
    const folder = ownerOf(folders, path)
    if (folder === undefined) ignored.push(path)
    else owned.set(path, folder)
  }
  return { owned, ignored }
}

/** Selects the files of skills among many paths. It pauses often, because a repository may have 50,000 paths. */
export const selectSkillFiles: SelectFiles = async (paths) => {
  const folders = new Set(await collectInSlices(paths, folderOfSkillFile))
  return { has: (path) => ownerOf(folders, path) !== undefined }
}

const SKILL_FILE = /(?:^|\/)SKILL\.md$/

const folderOfSkillFile = (path: string) => (SKILL_FILE.test(path) ? path.slice(0, -'SKILL.md'.length) : undefined)

/** Returns the nearest folder above a path that contains a SKILL.md. */
function ownerOf(folders: ReadonlySet<string>, path: string): string | undefined {
  // A longer folder is refused later. Comparing all folders of a path with 2,000 slashes would take 4 ms.
  const start = path.slice(0, SKILL_FILES.limits.pathLength)
  for (let end = start.lastIndexOf('/'); end > 0; end = start.lastIndexOf('/', end - 1)) {
    const folder = start.slice(0, end + 1)
    if (folders.has(folder)) return folder
  }
  return folders.has('') ? '' : undefined
}

function readSkill(folder: string, files: SourceFiles, source: SkillSource, fallbackName: string | null): ReadSkill {
  const skillFile = `${folder}SKILL.md`
  assertSkillSize(skillFile, files)
  const head = readSkillHead(skillFile, files.get('SKILL.md')!)
  const folderName = folder.split('/').at(-2) ?? fallbackName
  const name = head.name ?? folderName
  if (name === null)
    throw badSkillFile(skillFile, 'has no name in its frontmatter (---, name: ..., description: ..., ---)')
  const slug = slugOf(name) || slugOf(folderName ?? '')
  if (slug === '') throw badSkillFile(skillFile, 'needs a name with Latin letters or digits: its key is made from them')
  const inventory = takeInventory(files)
  return {
    key: source.namespace === null ? slug : `${source.namespace}/${slug}`,
    slug,
    name,
    description: head.description,
    source,
    trustLevel: trustLevelOf(inventory),
    inventory,
    digest: digestOf(inventory),
    files,
  }
}
