import path from 'node:path'
import * as v from 'valibot'
import { recordActivity } from '../../access/activity/record.ts'
import type { Caller } from '../../access/caller/caller.ts'
import * as field from '../../http/fields.ts'
import type { Context } from '../../platform/context.ts'
import { forbidden } from '../../platform/errors.ts'
import { readArchive } from './archive.ts'
import { readFolder } from './folder.ts'
import { fetchArchive, parseRepository } from './github.ts'
import { type Files, LIMITS } from './paths.ts'
import { type ReadSkill, readSkills } from './read-skills.ts'
import { Skill, toSkill } from './skill.ts'
import { OUTCOMES, putSkill } from './store.ts'

const FileContent = v.union(
  [
    v.string(),
    v.strictObject({
      encoding: v.literal('base64'),
      data: v.pipe(v.string(), v.base64('must be base64')),
    }),
  ],
  'must be a text or {"encoding":"base64","data":"..."}',
)

const GithubSource = v.strictObject({
  type: v.literal('github'),
  url: v.pipe(field.reference, v.description('https://github.com/owner/repo, perhaps with /tree/<ref>/<folder>.')),
  ref: v.optional(v.pipe(field.reference, v.description('A branch, tag or commit. Default: the default branch.'))),
  folder: v.optional(v.pipe(v.string(), v.maxLength(LIMITS.pathLength), v.description('Where to look for skills.'))),
})

/** The body of an import: one of three places that skills come from. */
export const SkillImport = v.pipe(
  v.strictObject({
    files: v.optional(
      v.pipe(
        v.record(v.string(), FileContent),
        v.description('Texts, or bytes in base64, by path. Each folder with a SKILL.md is a skill.'),
        v.examples([{ 'SKILL.md': '---\nname: tides\ndescription: Read a tide table.\n---\nHigh water first.\n' }]),
      ),
    ),
    path: v.optional(
      v.pipe(
        v.string(),
        v.maxLength(4_096),
        v.check((folder) => path.isAbsolute(folder), 'must be an absolute path'),
        v.description('A folder on the machine of the service; for the board only.'),
      ),
    ),
    source: v.optional(v.pipe(GithubSource, v.description('A public repository.'))),
  }),
  v.check(
    (body) => [body.files, body.path, body.source].filter((place) => place !== undefined).length === 1,
    'send exactly one of files, path and source',
  ),
)
export type SkillImport = v.InferOutput<typeof SkillImport>

export const SkillImportResult = v.strictObject({
  imported: v.array(v.strictObject({ ...Skill.entries, outcome: v.picklist(OUTCOMES) })),
  warnings: v.array(v.string()),
})
export type SkillImportResult = v.InferOutput<typeof SkillImportResult>

/**
 * Imports the skills of a place into a company: all of them or none. A skill
 * whose key is there already is brought up to date.
 */
export async function importSkills(
  ctx: Context,
  caller: Caller,
  companyId: string,
  body: SkillImport,
): Promise<SkillImportResult> {
  const { skills, warnings } = await gather(caller, body)
  return ctx.write(() => ({ imported: storeSkills(ctx, caller, companyId, skills), warnings }))
}

/** Stores skills that were read, within a write, and records each that is new or changed. */
export const storeSkills = (ctx: Context, caller: Caller, companyId: string, skills: readonly ReadSkill[]) =>
  skills.map((skill) => {
    const { row, outcome } = putSkill(ctx, companyId, skill)
    if (outcome !== 'unchanged') {
      recordActivity(ctx, caller, {
        companyId,
        action: outcome === 'created' ? 'skill.imported' : 'skill.updated',
        entity: { type: 'skill', id: row.id },
        details: { key: row.key, trustLevel: row.trust_level, sourceType: row.source_type, digest: row.digest },
      })
    }
    return { ...toSkill(row), outcome }
  })

async function gather(caller: Caller, body: SkillImport): Promise<{ skills: ReadSkill[]; warnings: string[] }> {
  if (body.path !== undefined) {
    if (caller.type === 'agent') {
      throw forbidden('Only the board imports a folder of the machine. Send the skill in `files`.')
    }
    const { files, warnings } = await readFolder(body.path)
    const source = { type: 'local_path', namespace: null, locator: path.resolve(body.path), ref: null } as const
    return { skills: readSkills(files, source, path.basename(source.locator)).skills, warnings }
  }
  if (body.source) {
    const repository = parseRepository(body.source)
    const { owner, repo, ref, folder } = repository
    const { files, warnings } = readArchive(await fetchArchive(repository, globalThis.fetch), folder)
    const url = `https://github.com/${owner}/${repo}`
    const namespace = `${owner}/${repo}`.toLowerCase()
    const source = {
      type: 'github',
      namespace,
      locator: folder ? `${url}/tree/${ref ?? 'HEAD'}/${folder}` : url,
      ref,
    } as const
    return { skills: readSkills(files, source, folder.split('/').at(-1) || repo).skills, warnings }
  }
  const source = { type: 'inline', namespace: null, locator: null, ref: null } as const
  const { skills, ignored } = readSkills(decodeFiles(body.files!), source, null)
  return { skills, warnings: ignored.map((file) => `${file} belongs to no skill and was left out.`) }
}

const decodeFiles = (files: NonNullable<SkillImport['files']>): Files =>
  new Map(
    Object.entries(files).map(([file, content]) => [
      file,
      typeof content === 'string' ? Buffer.from(content) : Buffer.from(content.data, 'base64'),
    ]),
  )
