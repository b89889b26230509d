import path from 'node:path'
import * as v from 'valibot'
import { bodyJob } from '../../http/body-job.ts'
import * as field from '../../http/fields.ts'
import { FileContent } from '../../http/file-content.ts'
import { SKILL_FILES } from './limits.ts'
import { Skill } from './skill.ts'
import { OUTCOMES } from './store.ts'

const GithubSource = v.strictObject({
  type: v.literal('github'),
  url: v.pipe(field.reference, v.description('https://github.com/owner/repo, optionally with /tree/<ref>/<folder>.')),
  ref: v.optional(v.pipe(field.reference, v.description('A branch, tag or commit. Default: the default branch.'))),
  folder: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(SKILL_FILES.limits.pathLength),
      v.description('The folder of the repository that contains the skills.'),
    ),
  ),
})

/** The body of an import. It names exactly one of three sources. */
export const SkillImport = v.pipe(
  v.strictObject({
    files: v.optional(
      v.pipe(
        v.record(v.string(), FileContent),
        v.description('Files by path, as text or in base64. Each folder with a SKILL.md is a skill.'),
        v.examples([{ 'SKILL.md': '---\nname: tides\ndescription: Read a tide table.\n---\nHigh water first.\n' }]),
      ),
    ),
    path: v.optional(
      v.pipe(
        v.string(),
        v.maxLength(4_096),
        v.check((folder) => path.isAbsolute(folder), 'must be an absolute path'),
        v.description('An absolute path of a folder on the machine of the service. Board only.'),
      ),
    ),
    source: v.optional(
      v.pipe(
        v.union([GithubSource, v.pipe(field.reference, v.maxLength(2_000))]),
        v.description(
          'A public repository. As text: its URL, or `owner/repo`, or `owner/repo/folder`; or an absolute path, as in `path`.',
        ),
      ),
    ),
  }),
  v.check(
    (body) => [body.files, body.path, body.source].filter((source) => source !== undefined).length === 1,
    'send exactly one of files, path and source',
  ),
)
export type SkillImport = v.InferOutput<typeof SkillImport>

export const SKILL_BODY_FIELDS = 5_000

export const skillBodyJob = bodyJob('parse-skill-body', SkillImport, SKILL_BODY_FIELDS)

export const SkillImportResult = v.strictObject({
  imported: v.array(v.strictObject({ ...Skill.entries, outcome: v.picklist(OUTCOMES) })),
  warnings: v.array(v.string()),
})
export type SkillImportResult = v.InferOutput<typeof SkillImportResult>
