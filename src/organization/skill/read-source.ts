import path from 'node:path'
import type { Caller } from '../../access/caller/caller.ts'
import { decodeFileContent } from '../../http/file-content.ts'
import type { Context } from '../../platform/context.ts'
import type { ReadJob } from '../../platform/database/reader.ts'
import { forbidden, unprocessable } from '../../platform/errors.ts'
import type { SourceFiles } from '../../platform/source/files.ts'
import { readFolder } from '../../platform/source/folder.ts'
import { fetchGithubFolder, parseGithubUrl } from '../../platform/source/github.ts'
import type { SkillImport } from './import-body.ts'
import { SKILL_FILES } from './limits.ts'
import { type ReadSkill, readSkills, type SkillSource, selectSkillFiles } from './read-skills.ts'

/** The skills of a source, and warnings about files that were left out. */
interface SkillsRead {
  skills: ReadSkill[]
  warnings: string[]
}

/**
 * Reads the skills of an import body. Only the board may read a local folder.
 *
 * @throws AppError 403, 422
 */
export async function readSkillSource(ctx: Context, caller: Caller, body: SkillImport): Promise<SkillsRead> {
  const source = typeof body.source === 'string' ? parseSource(body.source) : { path: body.path, source: body.source }
  if (source.path !== undefined) {
    if (caller.type === 'agent') {
      throw forbidden('Only the board may import a folder of the machine. Send the skill in `files`.')
    }
    return readLocalFolder(ctx, path.resolve(source.path))
  }
  return source.source ? readGithub(ctx, source.source) : readInline(ctx, body.files!)
}

type GithubSource = Exclude<NonNullable<SkillImport['source']>, string>

/** Reads a source that is sent as text: an absolute path, a URL, or `owner/repo` with an optional folder. */
function parseSource(text: string): { path?: string | undefined; source?: GithubSource | undefined } {
  if (path.isAbsolute(text)) return { path: text }
  if (text.includes('://')) return { source: { type: 'github', url: text } }
  const [owner, repo, ...folder] = text.split('/').filter(Boolean)
  if (!owner || !repo) {
    throw unprocessable('source', 'must be a URL, owner/repo, owner/repo/folder or an absolute path')
  }
  const url = `https://github.com/${owner}/${repo}`
  return { source: { type: 'github', url, ...(folder.length > 0 && { folder: folder.join('/') }) } }
}

async function readLocalFolder(ctx: Context, folder: string): Promise<SkillsRead> {
  const { files, skippedLinks } = await readFolder(folder, SKILL_FILES, selectSkillFiles)
  const source = { type: 'local_path', namespace: null, locator: folder, ref: null } as const
  const { skills } = await readFiles(ctx, { files, source, fallbackName: path.basename(folder) })
  return { skills, warnings: skippedLinks.map(linkWarning) }
}

async function readGithub(ctx: Context, want: GithubSource): Promise<SkillsRead> {
  const repository = parseGithubUrl(want)
  const { owner, repo, ref, folder } = repository
  const { files, skippedLinks } = await fetchGithubFolder(repository, globalThis.fetch, SKILL_FILES, selectSkillFiles)
  const url = `https://github.com/${owner}/${repo}`
  const source = {
    type: 'github',
    namespace: `${owner}/${repo}`.toLowerCase(),
    locator: folder ? `${url}/tree/${ref ?? 'HEAD'}/${folder}` : url,
    ref,
  } as const
  const { skills } = await readFiles(ctx, { files, source, fallbackName: folder.split('/').at(-1) || repo })
  return { skills, warnings: skippedLinks.map(linkWarning) }
}

async function readInline(ctx: Context, files: NonNullable<SkillImport['files']>): Promise<SkillsRead> {
  const source = { type: 'inline', namespace: null, locator: null, ref: null } as const
  const { skills, ignored } = await readFiles(ctx, { files, source, fallbackName: null })
  return { skills, warnings: ignored.map((file) => `${file} is not part of a skill and was ignored.`) }
}

interface SkillFilesToRead {
  files: SourceFiles | NonNullable<SkillImport['files']>
  source: SkillSource
  fallbackName: string | null
}

/** Reads skills in a thread: the YAML of 2,000 skills takes seconds. */
export const readSkillsJob: ReadJob<SkillFilesToRead, ReturnType<typeof readSkills>> = {
  name: 'read-skills',
  thread: 'packages',
  run(_, { files, source, fallbackName }) {
    const decoded =
      files instanceof Map
        ? files
        : new Map(Object.entries(files).map(([file, content]) => [file, decodeFileContent(content)]))
    return readSkills(decoded, source, fallbackName)
  },
}

const readFiles = (ctx: Context, wanted: SkillFilesToRead) =>
  ctx.reader.runApart(readSkillsJob, wanted, { timeLimitMs: 20_000 })

const linkWarning = (link: string) => `${link} is a symbolic link and was ignored.`
