import { compare } from '../../platform/compare.ts'
import { filesBelow, type SourceFiles } from '../../platform/source/files.ts'
import type { Findings } from './fields.ts'

const DOCUMENTS: ReadonlySet<string> = new Set(['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'NOTICE', 'README.md'])

const IMAGE = /\.(png|jpe?g|gif|webp|avif|svg)$/i

/**
 * Whether a file belongs to the package as a whole: its license, its README and
 * its images. An import stores such files as they are.
 */
export const isDocument = (path: string) => DOCUMENTS.has(path) || (IMAGE.test(path) && !path.startsWith('skills/'))

/** The path of the file of a task. Tasks of a project are below the folder of the project. */
export const taskPath = (task: { project: string | null; slug: string }) =>
  task.project === null ? `tasks/${task.slug}/TASK.md` : `projects/${task.project}/tasks/${task.slug}/TASK.md`

/**
 * Finds the root of a package and returns the files below it. The root is the
 * folder of the topmost COMPANY.md, or the single folder that contains all
 * files of an archive.
 */
export function filesOfPackage(files: SourceFiles): SourceFiles {
  const companyFiles = [...files.keys()].filter((path) => /(^|\/)COMPANY\.md$/.test(path))
  const company = companyFiles.sort((a, b) => a.split('/').length - b.split('/').length || compare(a, b))[0]
  if (company !== undefined) return filesBelow(files, company.slice(0, -'COMPANY.md'.length))
  const tops = new Set([...files.keys()].map((path) => path.split('/')[0]!))
  const [top] = tops
  const isWrapped = tops.size === 1 && top !== undefined && !LAYOUT_FOLDERS.has(top) && !files.has(top)
  return isWrapped ? filesBelow(files, `${top}/`) : files
}

/** The folders of the layout. Such a folder is never a wrapper around the package. */
const LAYOUT_FOLDERS: ReadonlySet<string> = new Set(['agents', 'teams', 'projects', 'tasks', 'skills'])

/** The maximum number of files in a warning. */
const MAX_NAMES = 30

/**
 * Returns the paths of the SKILL.md files. They may be in subfolders, such as
 * `skills/<owner>/<repository>/<slug>`. A SKILL.md inside the folder of a skill
 * is an ordinary file of that skill.
 */
export function skillFilesOf(files: SourceFiles): SourceFiles {
  const found = [...files]
    .filter(([path]) => /^skills\/.+\/SKILL\.md$/.test(path))
    .sort(([a], [b]) => a.length - b.length)
  const skills: SourceFiles = new Map()
  for (const [path, bytes] of found) if (!isInSkill(path, skills)) skills.set(path, bytes)
  return skills
}

/** Whether a file is in the folder of one of these skills. */
function isInSkill(path: string, skills: SourceFiles): boolean {
  const parts = path.split('/')
  return parts.some((_, depth) => depth > 1 && skills.has(`${parts.slice(0, depth).join('/')}/SKILL.md`))
}

/** Warns about files that are not part of the layout. */
export function noteIgnoredFiles(files: SourceFiles, skills: SourceFiles, findings: Findings): void {
  const isKnown = (path: string) =>
    isDocument(path) || isInSkill(path, skills) || LAYOUT.some((known) => known.test(path))
  const ignored = [...files.keys()].filter((path) => !isKnown(path))
  if (ignored.length === 0) return
  const names = `${ignored.slice(0, MAX_NAMES).join(', ')}${ignored.length > MAX_NAMES ? ', …' : ''}`
  const message = `${ignored.length} files are not part of the layout and were ignored: ${names}.`
  findings.warnings.push({ code: 'left_out', path: null, message })
}

const LAYOUT = [
  /^(COMPANY\.md|\.(service|paperclip)\.ya?ml|agents\/[^/]+\/AGENTS\.md|teams\/[^/]+\/TEAM\.md)$/,
  /^(projects\/[^/]+\/PROJECT\.md|(projects\/[^/]+\/)?tasks\/[^/]+\/TASK\.md)$/,
]
