import { readFile, stat } from 'node:fs/promises'
import { AppError } from '../../../platform/errors.ts'
import type { SourceFiles } from '../../../platform/source/files.ts'
import { readFolder } from '../../../platform/source/folder.ts'
import { readZip } from '../../../platform/source/zip.ts'
import { PACKAGE_FILES } from '../../../portability/source/package-files.ts'
import { filesOfFolder } from '../../../portability/source/root.ts'
import type { PackageSource } from '../../../portability/source/source-body.ts'
import type { BodyOf, ResponseOf } from '../../client/types.ts'
import { CliError, EXIT } from '../../connection/exit-codes.ts'
import { programName } from '../command/as-started.ts'
import { confirm, isInteractive, requireAnswer } from '../command/ask.ts'
import { findCompany } from '../command/find.ts'
import { choice, choices, text, toggle, withDefault } from '../command/flag.ts'
import { paint, print, quoted, table } from '../command/output.ts'
import type { Output } from '../command/result.ts'
import type { Scope } from '../command/scope.ts'
import { verb } from '../command/verb.ts'

type ImportBody = BodyOf<'POST /api/companies/import/preview'>
type ImportPlan = ResponseOf<'POST /api/companies/import/preview'>

interface ImportValues {
  into?: string
  name?: string
  ref?: string
  path?: string
  collision: 'rename' | 'skip'
  only?: string
  fetch?: boolean
  preview?: true
}

const PARTS = ['company', 'agents', 'projects', 'issues'] as const

const YES = { yes: toggle('-y, --yes', 'do not prompt for a confirmation') }

export const importCommand = () =>
  verb({
    name: 'import',
    summary: 'Import a company package: show the plan, confirm, and apply it.',
    args: ['<source>'],
    flags: {
      into: text('--into <company>', 'import into this company instead of a new one'),
      name: text('--name <name>', 'the name of the new company (default: as the package says)'),
      ref: text('--ref <ref>', 'a branch, tag or commit of a repository'),
      path: text('--path <folder>', 'the folder of the package in the source'),
      collision: withDefault(
        choice('--collision <how>', ['rename', 'skip'], 'what to do with names that are taken'),
        'rename',
      ),
      only: choices('--only <parts>', PARTS, 'import these parts only, separated by commas'),
      fetch: {
        ...toggle('--no-fetch', 'do not download the texts of skills that refer to a repository'),
        parse: isTrue,
      },
      preview: toggle('--preview', 'only show the plan'),
      ...YES,
    },
    examples: ['company import ./package --preview', 'company import tern.zip --into TER --collision skip --yes'],
    note: 'The source is a folder, a zip file, https://github.com/OWNER/REPO[/tree/REF/FOLDER], or an https git URL.',
    async run(scope, [source], values) {
      try {
        return await runImport(scope, await sourceOf(source, values), values)
      } catch (error) {
        const path = await choosePath(error, source, values, scope)
        if (path === undefined) throw error
        return runImport(scope, await sourceOf(source, { ...values, path }), values)
      }
    },
  })

function isTrue(given: string): boolean {
  return given === 'true'
}

export const newCommand = () =>
  verb({
    name: 'new',
    summary: 'Create a company from a template.',
    args: ['[name]'],
    flags: {
      template: {
        ...text('--template <template>', 'its name; `service template list` lists them'),
        async parse(given: string, { client }: Scope, name: string) {
          const names = (await client.request('GET /api/templates')).map((one) => one.name)
          if (names.includes(given)) return given
          throw new CliError(EXIT.usage, `${name} accepts ${names.join(', ')}, not ${given}.`)
        },
      },
      ...YES,
    },
    examples: ['company new "Walrus Ltd" --template software-team --yes'],
    async run(scope, [name], { template }) {
      if (template === undefined) {
        const names = (await scope.client.request('GET /api/templates')).map((one) => one.name).join(', ')
        throw new CliError(
          EXIT.usage,
          `Choose a template with --template: ${names}. For an empty company: service company create NAME`,
        )
      }
      const source: PackageSource = { type: 'template', name: template }
      return runImport(scope, source, { collision: 'rename', ...(name !== undefined && { name }) })
    },
  })

/** Shows the plan, prompts for a confirmation, and applies this plan. The server refuses a plan that has changed meanwhile. */
async function runImport(scope: Scope, source: PackageSource, values: ImportValues): Promise<Output> {
  const { client, options } = scope
  const company = values.into === undefined ? null : await findCompany(client, values.into)
  const params = company && { companyId: company.id }
  const body: ImportBody = {
    source,
    target: company
      ? { mode: 'existing_company', companyId: company.id }
      : { mode: 'new_company', newCompanyName: values.name ?? null },
    collisionStrategy: values.collision,
    ...(values.fetch === false && { fetchSkills: false }),
    ...(values.only !== undefined && {
      include: Object.fromEntries(PARTS.map((part) => [part, values.only!.split(',').includes(part)])),
    }),
  }
  const plan = params
    ? await client.request('POST /api/companies/:companyId/imports/preview', { params, body })
    : await client.request('POST /api/companies/import/preview', { body })
  if (values.preview) return { value: plan, text: () => describe(plan) }
  if (options.json === undefined && options.jq === undefined) print(describe(plan))
  const question = company ? `Import this into ${plan.target.companyName}?` : await creationQuestion(client, plan)
  if (!(await confirm(options, question))) throw new CliError(EXIT.failure, 'Nothing was imported.')
  const confirmed = { ...body, planHash: plan.planHash }
  const done = params
    ? await client.request('POST /api/companies/:companyId/imports/apply', { params, body: confirmed })
    : await client.request('POST /api/companies/import/apply', { body: confirmed })
  return { value: done, text: () => describeDone(scope, done) }
}

/** Asks whether to create the company of a plan. Several companies may have the same name, but seldom on purpose. */
async function creationQuestion(client: Scope['client'], { target: { companyName } }: ImportPlan): Promise<string> {
  const companies = await client.request('GET /api/companies', { query: { limit: 1000 } })
  const same = companies.find(({ name }) => name === companyName)
  return same
    ? `There is a company ${companyName} (${same.issuePrefix}). Create another one?`
    : `Create ${companyName}?`
}

async function describeDone({ client }: Scope, { target }: ImportPlan): Promise<string> {
  // A CEO that created another company is not its member and may not list its agents.
  const agents = await client
    .request('GET /api/companies/:companyId/agents', { params: { companyId: target.companyId! } })
    .catch(() => [])
  const first = (await firstAssignee(client, target.companyId!)) ?? agents.find(({ role }) => role === 'ceo')?.id
  const name = agents.find(({ id }) => id === first)?.name
  const companies = await client.request('GET /api/companies', { query: { limit: 1000 } })
  const prefix = companies.find(({ id }) => id === target.companyId)?.issuePrefix
  const which = companies.length > 1 && prefix ? ` --company ${prefix}` : ''
  return [
    `${paint('good', 'Done.')} ${target.companyName}${prefix ? ` (${prefix})` : ''} has id ${target.companyId}.`,
    `No agent runs yet, because timers are off. Start with: ${programName()} agent invoke ${name ? quoted(name) : 'NAME'}${which}`,
  ].join('\n')
}

/** Returns the agent of the first issue that no other issue blocks. */
async function firstAssignee(client: Scope['client'], companyId: string): Promise<string | undefined> {
  const issues = await client
    .request('GET /api/companies/:companyId/issues', { params: { companyId }, query: { status: 'todo', limit: 1000 } })
    .catch(() => [])
  const ready = issues.filter(
    ({ assigneeAgentId, blockedBy }) =>
      assigneeAgentId !== null && blockedBy.every(({ status }) => status === 'done' || status === 'cancelled'),
  )
  return ready.toSorted((a, b) => a.issueNumber - b.issueNumber)[0]?.assigneeAgentId ?? undefined
}

function describe({ entities, counts, warnings, inputs }: ImportPlan): string {
  const headings = ['', 'What', 'Name', 'Begins', 'Why']
  const rows = entities.map((entity) => [
    entity.action,
    entity.kind,
    entity.action === 'rename' ? `${entity.name} → ${entity.as}` : entity.as,
    entity.status === 'pending_approval' ? 'waits for approval' : '',
    entity.action === 'create' ? '' : entity.reason,
  ])
  const wanted = inputs.map((input) => [`  ${input.agent}`, input.name, input.kind, input.requirement])
  const notes = warnings.map(({ path, message }) => `  ${path === null ? '' : `${path}: `}${message}`)
  return [
    table([headings, ...rows].map((row) => row.filter((_, column) => rows.some((one) => one[column] !== '')))),
    `\n${counts.create} created, ${counts.rename} renamed, ${counts.skip} skipped.`,
    ...(wanted.length > 0 ? ['\nEnvironment variables that its agents need:', table(wanted)] : []),
    ...(notes.length > 0 ? [`\n${paint('waiting', 'Warnings:')}`, ...notes] : []),
    '',
  ].join('\n')
}

async function sourceOf(source: string, { ref, path }: Pick<ImportValues, 'ref' | 'path'>): Promise<PackageSource> {
  const place = { ...(ref !== undefined && { ref }), ...(path !== undefined && { path }) }
  if (/^https:\/\/(www\.)?github\.com\//.test(source)) return { type: 'github', url: source, ...place }
  if (isUrl(source)) return { type: 'git', url: source, ...place }
  const file = await stat(source).catch(() => undefined)
  if (!file) throw new CliError(EXIT.usage, `There is no folder or file ${source}.`)
  const { files } = file.isDirectory()
    ? await readFolder(source, PACKAGE_FILES)
    : await readZip(await readFile(source), PACKAGE_FILES)
  const selected = filesOfFolder(files, path ?? '')
  if (!selected) throw new CliError(EXIT.usage, `${source} has no files below ${path}.`)
  return { type: 'inline', files: encode(selected) }
}

const isUrl = (source: string) => /^[a-z][a-z0-9+.-]*:\/\//i.test(source)

/** Prompts for the company to import, if the server refused the source because it contains several. */
async function choosePath(
  error: unknown,
  source: string,
  { path }: ImportValues,
  { options }: Scope,
): Promise<string | undefined> {
  const { companies } = (error instanceof AppError ? (error.details ?? {}) : {}) as {
    companies?: { path: string; name: string | null }[]
  }
  if (!companies) return undefined
  if (options.json !== undefined) {
    print(JSON.stringify({ companies }, null, 2))
    return undefined
  }
  // For a local source, the server receives only the files below --path.
  const folder = (one: string) => (path === undefined || isUrl(source) ? one : `${path}/${one}`)
  if (!isInteractive(options)) {
    const list = companies.map((one) => `--path ${folder(one.path)}`).join(', ')
    throw new CliError(EXIT.usage, `The source contains ${companies.length} companies. Choose one: ${list}.`)
  }
  const prompts = await import('@clack/prompts')
  const choices = companies.map((one) => ({ value: folder(one.path), label: one.name ?? one.path, hint: one.path }))
  return requireAnswer(prompts, await prompts.select({ message: 'Which company?', options: choices }))
}

/** Encodes every file in base64. The server decides which are texts. */
const encode = (files: SourceFiles) =>
  Object.fromEntries(
    [...files].map(([path, bytes]) => [
      path,
      { encoding: 'base64' as const, data: Buffer.from(bytes).toString('base64') },
    ]),
  )
