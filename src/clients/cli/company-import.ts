import { readFile, stat } from 'node:fs/promises'
import { Command, Option } from 'commander'
import { AppError } from '../../platform/errors.ts'
import type { SourceFiles } from '../../platform/source/files.ts'
import { readFolder } from '../../platform/source/folder.ts'
import { readZip } from '../../platform/source/zip.ts'
import { PACKAGE_FILES } from '../../portability/source/package-files.ts'
import { filesOfFolder } from '../../portability/source/root.ts'
import type { PackageSource } from '../../portability/source/source-body.ts'
import type { BodyOf, ResponseOf } from '../client/types.ts'
import type { Client } from '../connection/client.ts'
import { type ConnectionOptions, connect, withConnection } from '../connection/connect.ts'
import { CliError, EXIT } from '../connection/exit-codes.ts'
import { confirm } from './confirm.ts'
import { findCompany } from './find.ts'
import { paint, print, printJson, quoted, table } from './output.ts'

type ImportBody = BodyOf<'POST /api/companies/import/preview'>
type ImportPlan = ResponseOf<'POST /api/companies/import/preview'>

interface ImportOptions extends ConnectionOptions {
  into?: string
  name?: string
  ref?: string
  path?: string
  collision: 'rename' | 'skip'
  only?: string[]
  fetch?: boolean
  preview?: boolean
  yes?: boolean
  json?: boolean
}

const PARTS = ['company', 'agents', 'projects', 'issues'] as const

export const importCommand = () =>
  withConnection(new Command('import'))
    .description('Import a company package: show what it would do, ask, and do it.')
    .argument('<source>', 'a folder, a zip file, https://github.com/OWNER/REPO[/tree/REF/FOLDER], or an https git URL')
    .option('--into <company>', 'import into this company instead of a new one: its name, id or prefix')
    .option('--name <name>', 'what the new company is called (default: as the package says)')
    .option('--ref <ref>', 'a branch, tag or commit of a repository')
    .option('--path <folder>', 'the folder of the package in the source')
    .addOption(
      new Option('--collision <how>', 'what to do with names that are taken')
        .choices(['rename', 'skip'])
        .default('rename'),
    )
    .addOption(new Option('--only <parts...>', 'import these parts only').choices(PARTS))
    .option('--no-fetch', 'do not download the texts of skills that refer to a repository')
    .option('--preview', 'only show what it would do')
    .option('-y, --yes', 'do not ask')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  $ service company import ./software-team
  $ service company import team.zip --into "Walrus Ltd" --collision skip --yes
  $ service company import https://github.com/OWNER/REPO/tree/main/team --preview`,
    )
    .action(async (source: string, options: ImportOptions) => {
      const client = connect(options, process.env)
      try {
        await runImport(client, await sourceOf(source, options), options)
      } catch (error) {
        const path = await choosePath(error, source, options)
        if (path === undefined) throw error
        await runImport(client, await sourceOf(source, { ...options, path }), options)
      }
    })

interface NewOptions extends ConnectionOptions {
  template: string
  yes?: boolean
  json?: boolean
}

export const newCommand = () =>
  withConnection(new Command('new'))
    .description('Begin a company from a template.')
    .argument('[name]', 'what it is called (default: as the template says)')
    .requiredOption('--template <template>', 'software-team, content-studio or research-desk')
    .option('-y, --yes', 'do not ask')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  $ service company new "Walrus Ltd" --template software-team')
    .action(async (name: string | undefined, { template, ...options }: NewOptions) => {
      const source = { type: 'template', name: template } as const
      await runImport(connect(options, process.env), source, { ...options, ...(name && { name }), collision: 'rename' })
    })

/** Shows the plan, asks, and has exactly that done: the server refuses when it would do anything else by then. */
async function runImport(client: Client, source: PackageSource, options: ImportOptions): Promise<void> {
  const company = options.into === undefined ? null : await findCompany(client, { ...options, company: options.into })
  const params = company && { companyId: company.id }
  const body: ImportBody = {
    source,
    target: company
      ? { mode: 'existing_company', companyId: company.id }
      : { mode: 'new_company', newCompanyName: options.name ?? null },
    collisionStrategy: options.collision,
    ...(options.fetch === false && { fetchSkills: false }),
    ...(options.only && { include: Object.fromEntries(PARTS.map((part) => [part, options.only!.includes(part)])) }),
  }
  const plan = params
    ? await client.request('POST /api/companies/:companyId/imports/preview', { params, body })
    : await client.request('POST /api/companies/import/preview', { body })
  if (options.json && options.preview) return printJson(plan)
  if (!options.json) show(plan)
  if (options.preview) return
  const what = company ? `Import this into ${plan.target.companyName}?` : `Make ${plan.target.companyName}?`
  if (!options.yes && !(await confirm(what))) return print('Nothing was imported.')
  const confirmed = { ...body, planHash: plan.planHash }
  const done = params
    ? await client.request('POST /api/companies/:companyId/imports/apply', { params, body: confirmed })
    : await client.request('POST /api/companies/import/apply', { body: confirmed })
  if (options.json) return printJson(done)
  print(`${paint('good', 'Done.')} ${done.target.companyName} has id ${done.target.companyId}.`)
  // A CEO that made another company does not belong to it.
  const found = await client.send({ method: 'GET', path: `/api/companies/${done.target.companyId}/agents` })
  const agents = found.status === 200 ? (found.body as { name: string; role: string }[]) : []
  const ceo = agents.find(({ role }) => role === 'ceo')
  const next = ceo
    ? `Begin with: service agent invoke ${quoted(ceo.name)}`
    : 'service agent invoke NAME wakes an agent.'
  print(`Nothing runs yet: timers are off. ${next}`)
}

function show({ entities, counts, warnings, inputs }: ImportPlan): void {
  const rows = entities.map((entity) => [
    entity.action,
    entity.kind,
    entity.action === 'rename' ? `${entity.name} → ${entity.as}` : entity.as,
    entity.status === 'pending_approval' ? 'waits for approval' : '',
    entity.action === 'create' ? '' : entity.reason,
  ])
  print(table([['', 'What', 'Name', 'Begins', 'Why'], ...rows]))
  print(`\n${counts.create} created, ${counts.rename} renamed, ${counts.skip} skipped.`)
  if (inputs.length > 0) {
    print('\nEnvironment variables that its agents ask for:')
    print(table(inputs.map((input) => [`  ${input.agent}`, input.name, input.kind, input.requirement])))
  }
  if (warnings.length > 0) print(`\n${paint('waiting', 'Look at this first:')}`)
  for (const warning of warnings) print(`  ${warning.path === null ? '' : `${warning.path}: `}${warning.message}`)
  print('')
}

async function sourceOf(source: string, { ref, path }: ImportOptions): Promise<PackageSource> {
  const place = { ...(ref !== undefined && { ref }), ...(path !== undefined && { path }) }
  if (/^https:\/\/(www\.)?github\.com\//.test(source)) return { type: 'github', url: source, ...place }
  if (isUrl(source)) return { type: 'git', url: source, ...place }
  const file = await stat(source).catch(() => undefined)
  if (!file) throw new CliError(EXIT.usage, `There is no folder or file ${source}.`)
  const { files } = file.isDirectory()
    ? await readFolder(source, PACKAGE_FILES)
    : readZip(await readFile(source), PACKAGE_FILES)
  const selected = filesOfFolder(files, path ?? '')
  if (!selected) throw new CliError(EXIT.usage, `${source} has no files below ${path}.`)
  return { type: 'inline', files: encode(selected) }
}

const isUrl = (source: string) => /^[a-z][a-z0-9+.-]*:\/\//i.test(source)

/** Asks which company of a source to import, if the server refused it because of several. */
async function choosePath(error: unknown, source: string, { json, path }: ImportOptions): Promise<string | undefined> {
  const { companies } = (error instanceof AppError ? (error.details ?? {}) : {}) as {
    companies?: { path: string; name: string | null }[]
  }
  if (!companies) return undefined
  if (json) {
    printJson({ companies })
    return undefined
  }
  // Of a local source, the server has only the files below --path.
  const folder = (one: string) => (path === undefined || isUrl(source) ? one : `${path}/${one}`)
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    const list = companies.map((one) => `--path ${folder(one.path)}`).join(', ')
    throw new CliError(EXIT.usage, `The source contains ${companies.length} companies. Choose one: ${list}.`)
  }
  const prompts = await import('@clack/prompts')
  const options = companies.map((one) => ({ value: folder(one.path), label: one.name ?? one.path, hint: one.path }))
  const chosen = await prompts.select({ message: 'Which company?', options })
  return typeof chosen === 'string' ? chosen : undefined
}

/** Everything as base64: what a text is the server finds out. */
const encode = (files: SourceFiles) =>
  Object.fromEntries(
    [...files].map(([path, bytes]) => [
      path,
      { encoding: 'base64' as const, data: Buffer.from(bytes).toString('base64') },
    ]),
  )
