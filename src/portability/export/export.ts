import { recordActivity } from '../../access/activity/record.ts'
import type { Caller } from '../../access/caller/caller.ts'
import type { FileContent } from '../../http/file-content.ts'
import { JsonText } from '../../http/route.ts'
import type { Context, ReadContext } from '../../platform/context.ts'
import type { ReadJob } from '../../platform/database/reader.ts'
import { AppError, unprocessable } from '../../platform/errors.ts'
import { textOf } from '../../platform/source/files.ts'
import { sizeOfCompany } from '../company/queries.ts'
import { type Include, includeOf } from '../read/include.ts'
import { type CompanyPackage, SCHEMA } from '../read/package.ts'
import { taskPath } from '../read/package-layout.ts'
import { PACKAGE_FILES } from '../source/package-files.ts'
import type { PackageWarning } from '../source/warning.ts'
import { collectCompany } from './collect.ts'
import { collectInstructions, type Instructions } from './collect-instructions.ts'
import type { ExportBody, ExportedPackage, ExportPreview } from './export-body.ts'
import { type RenderedFile, renderPackage } from './render.ts'
import { partedRoutines, selectEntities } from './select.ts'

/** The input of an export. A thread has no access to the files of the instructions. */
interface ExportInput {
  companyId: string
  now: string
  instructions: Instructions
  include: Include
  selectedFiles: readonly string[] | undefined
  /** Whether to list the files, each with its size and the reason for including it. */
  isPreview: boolean
}

interface ExportOutput {
  /** The response as JSON. */
  json: Uint8Array
  /** The number of files. */
  files: number
}

/** Lists the files of an export, each with its size and the reason for including it. */
export async function previewExport(
  ctx: Context,
  caller: Caller,
  companyId: string,
  body: ExportBody,
): Promise<JsonText> {
  const { json } = await makeExport(ctx, caller, companyId, { ...body, isPreview: true })
  return new JsonText(json)
}

/** Exports a company as a package. An unchanged company produces identical bytes. */
export async function exportCompany(
  ctx: Context,
  caller: Caller,
  companyId: string,
  body: ExportBody,
): Promise<JsonText> {
  const { json, files, include } = await makeExport(ctx, caller, companyId, { ...body, isPreview: false })
  const exported = new JsonText(json)
  return ctx.write(() => {
    recordActivity(ctx, caller, {
      companyId,
      action: 'company.exported',
      entity: { type: 'company', id: companyId },
      details: { files, include },
    })
    return exported
  })
}

/** A company up to this size is exported on the main thread: it takes less than the way to a thread. */
const SMALL = { rows: 100, bytes: 500_000 }

const EXPORT_LIMITS = {
  timeLimitMs: 30_000,
  timeLimitError: new AppError('semantic', 'The export takes longer than 30 seconds. Export a part of the company.'),
}

async function makeExport(
  ctx: Context,
  caller: Caller,
  companyId: string,
  { include: requested, selectedFiles, isPreview }: ExportBody & { isPreview: boolean },
): Promise<ExportOutput & { include: Include }> {
  const include = includeOf(requested, { issues: false })
  // A task that is selected by its path is included even if issues are excluded.
  if (selectedFiles?.some((path) => path.endsWith('/TASK.md'))) include.issues = true
  const instructions = await collectInstructions(ctx, companyId, caller.type === 'board')
  const input = { companyId, now: ctx.now, instructions, include, selectedFiles, isPreview }
  const { rows, bytes } = sizeOfCompany(ctx.db, companyId)
  const isSmall = rows <= SMALL.rows && bytes <= SMALL.bytes
  const output = isSmall
    ? exportJob.run(ctx.db, input, () => {})
    : await ctx.reader.runApart(exportJob, input, EXPORT_LIMITS)
  return { ...output, include }
}

/** Writes a package in a thread: one with 8,500 issues takes 0.6 s. */
export const exportJob: ReadJob<ExportInput, ExportOutput> = {
  name: 'export',
  thread: 'packages',
  run(db, input) {
    const { content, files, warnings } = makePackage({ db }, input)
    const exported = toExport(content, files, warnings, input.include)
    const displayed = input.isPreview ? { ...exported, ...inventoryOf(content, files) } : exported
    return { json: Buffer.from(JSON.stringify(displayed)), files: files.size }
  },
}

function inventoryOf(
  { agents, teams, projects, tasks, routines, goals, skills }: CompanyPackage,
  files: ReadonlyMap<string, RenderedFile>,
): Pick<ExportPreview, 'fileInventory' | 'counts'> {
  const fileInventory = [...files].map(([path, { kind, bytes, reason }]) => ({
    path,
    kind,
    bytes: bytes.length,
    reason,
  }))
  return {
    fileInventory,
    counts: {
      files: files.size,
      bytes: fileInventory.reduce((sum, file) => sum + file.bytes, 0),
      agents: agents.length,
      teams: teams.length,
      projects: projects.length,
      issues: tasks.length,
      routines: routines.length,
      goals: goals.length,
      skills: skills.length,
    },
  }
}

function makePackage(ctx: ReadContext, { include, selectedFiles, ...of }: ExportInput) {
  const { content: whole, warnings } = collectCompany(ctx, of)
  if (include.issues && !selectedFiles) refuseTooMany(whole)
  const included = selectEntities(whole, include)
  const files = renderPackage(included)
  const noted = (content: CompanyPackage) => [...warnings, ...partedRoutines(whole, content)]
  if (!selectedFiles) return { content: included, files, warnings: about(files, noted(included)) }
  const unknown = selectedFiles.findIndex((path) => !files.has(path))
  if (unknown >= 0) {
    throw unprocessable(`selectedFiles.${unknown}`, 'is not a file of this export; the preview lists its files')
  }
  const selected = new Set(selectedFiles)
  const content = selectEntities(included, include, selected)
  const narrowed = new Map([...renderPackage(content)].filter(([path]) => selected.has(path)))
  return { content, files: narrowed, warnings: about(narrowed, noted(content)) }
}

/** Refuses a package with more files than an import accepts. Writing it would also take too long. */
function refuseTooMany({ tasks, routines }: CompanyPackage): void {
  const count = tasks.length + routines.length
  if (count < PACKAGE_FILES.limits.files) return
  throw unprocessable(
    'include.issues',
    `would include ${count} open issues, but a package has at most ${PACKAGE_FILES.limits.files} files`,
  )
}

/** Returns the warnings that concern files of the package, each once. */
function about(files: ReadonlyMap<string, RenderedFile>, warnings: readonly PackageWarning[]): PackageWarning[] {
  const seen = new Set<string>()
  return warnings.filter((warning) => {
    const key = JSON.stringify(warning)
    if (seen.has(key)) return false
    seen.add(key)
    return warning.path === null || !warning.path.includes('/') || files.has(warning.path)
  })
}

function toExport(
  content: CompanyPackage,
  files: ReadonlyMap<string, RenderedFile>,
  warnings: PackageWarning[],
  include: Include,
): ExportedPackage {
  const { company, agents, projects, skills, tasks } = content
  const entries = (kind: string, things: readonly { slug: string; name: string; path: string }[]) =>
    things.filter(({ path }) => files.get(path)?.kind === kind)
  return {
    rootPath: company.slug,
    manifest: {
      schema: SCHEMA,
      name: company.name ?? company.slug,
      slug: company.slug,
      description: company.description,
      include,
      agents: entries(
        'agent',
        agents.map(({ slug, name }) => ({ slug, name, path: `agents/${slug}/AGENTS.md` })),
      ),
      projects: entries(
        'project',
        projects.map(({ slug, name }) => ({ slug, name, path: `projects/${slug}/PROJECT.md` })),
      ),
      skills: entries(
        'skill',
        skills.map(({ slug, name }) => ({ slug, name, path: `skills/${slug}/SKILL.md` })),
      ),
      issues: entries(
        'issue',
        tasks.map((task) => ({ slug: task.key, name: task.title, path: taskPath(task) })),
      ),
    },
    files: Object.fromEntries([...files].map(([path, { bytes }]) => [path, contentOf(bytes)])),
    warnings,
  }
}

/** Returns content as text if possible, so that people and diffs can read it. */
function contentOf(bytes: Uint8Array): FileContent {
  const text = textOf(bytes)
  // A byte order mark is not part of the text, and decoding would remove it.
  const isWhole = text !== undefined && Buffer.byteLength(text) === bytes.length
  return isWhole ? text : { encoding: 'base64', data: Buffer.from(bytes).toString('base64') }
}
