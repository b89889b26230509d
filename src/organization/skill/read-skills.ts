import { unprocessable } from '../../platform/errors.ts'
import { slugOf } from '../../platform/url-key.ts'
import { readHead } from './frontmatter.ts'
import { digestOf, type InventoryEntry, type TrustLevel, takeInventory, trustLevelOf } from './inventory.ts'
import { badFile, checkFiles, type Files, LIMITS } from './paths.ts'

/** Where skills come from. */
export interface Source {
  type: 'bundled' | 'inline' | 'local_path' | 'github'
  /** What precedes the slug in the key of a hosted skill: `owner/repo`; null for the company's own. */
  namespace: string | null
  /** The folder or the URL; null for what was sent as it is. */
  locator: string | null
  ref: string | null
}

/** A skill that was read and found sound, not yet stored. */
export interface ReadSkill {
  key: string
  slug: string
  name: string
  description: string | null
  source: Source
  trustLevel: TrustLevel
  inventory: InventoryEntry[]
  digest: string
  /** Relative to the skill's own folder. */
  files: Files
}

/**
 * Finds the skills among files: each folder with a SKILL.md is one, with what
 * is below it, up to the next SKILL.md. Checks everything before anything is
 * stored, so an import is whole or not at all.
 *
 * @param fallbackName of a skill at the top that names itself nowhere
 * @returns the skills by key, and the files that belong to none
 * @throws AppError 422
 */
export function readSkills(
  files: Files,
  source: Source,
  fallbackName: string | null,
): { skills: ReadSkill[]; ignored: string[] } {
  checkFiles(files)
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
      throw badFile(`${folder}SKILL.md`, `has the slug ${skill.slug} of another of these skills`)
    skills.set(skill.key, skill)
  }
  return { skills: [...skills.values()].sort((a, b) => (a.key < b.key ? -1 : 1)), ignored }
}

/**
 * Says of each path which skill's folder it belongs to; such a folder ends in
 * a slash, or is empty at the top. The others are of no skill.
 */
export function ownersOf(paths: readonly string[]): { owned: Map<string, string>; ignored: string[] } {
  const folders = new Set(
    paths.filter((path) => SKILL_FILE.test(path)).map((path) => path.slice(0, -'SKILL.md'.length)),
  )
  const owned = new Map<string, string>()
  const ignored: string[] = []
  for (const path of paths) {
    const folder = ownerOf(folders, path)
    if (folder === undefined) ignored.push(path)
    else owned.set(path, folder)
  }
  return { owned, ignored }
}

const SKILL_FILE = /(^|\/)SKILL\.md$/

/** The nearest folder above a path that has a SKILL.md. */
function ownerOf(folders: ReadonlySet<string>, path: string): string | undefined {
  for (let end = path.lastIndexOf('/') + 1; end > 0; end = path.lastIndexOf('/', end - 2) + 1) {
    if (folders.has(path.slice(0, end))) return path.slice(0, end)
  }
  return folders.has('') ? '' : undefined
}

function readSkill(folder: string, files: Files, source: Source, fallbackName: string | null): ReadSkill {
  const skillFile = `${folder}SKILL.md`
  const bytes = [...files.values()].reduce((sum, content) => sum + content.length, 0)
  if (files.size > LIMITS.filesOfSkill) throw badFile(skillFile, `has more than ${LIMITS.filesOfSkill} files beside it`)
  if (bytes > LIMITS.skillBytes) throw badFile(skillFile, `is of a skill of more than ${LIMITS.skillBytes} bytes`)
  const head = readHead(skillFile, files.get('SKILL.md')!)
  const folderName = folder.split('/').at(-2) ?? fallbackName
  const name = head.name ?? folderName
  if (name === null) throw badFile(skillFile, 'has no name in its frontmatter (---, name: ..., description: ..., ---)')
  const slug = slugOf(name) || slugOf(folderName ?? '')
  if (slug === '') throw badFile(skillFile, 'needs a name with Latin letters or digits, which its key is made of')
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
