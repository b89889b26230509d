import { writeFile } from 'node:fs/promises'
import { Command } from 'commander'
import type { ResponseOf } from '../client/types.ts'
import { type ConnectionOptions, connect, withConnection } from '../connection/connect.ts'
import { CliError, EXIT } from '../connection/exit-codes.ts'
import { confirm } from './confirm.ts'
import { findCompany } from './find.ts'
import { paint, print, printJson, table } from './output.ts'

type Preview = ResponseOf<'POST /api/companies/:companyId/exports/preview'>
type Files = ResponseOf<'POST /api/companies/:companyId/exports'>['files']

interface ExportOptions extends ConnectionOptions {
  out?: string
  issues?: boolean
  file?: string[]
  preview?: boolean
  yes?: boolean
  json?: boolean
}

export const exportCommand = () =>
  withConnection(new Command('export'))
    .description('Export a company as a package: show what is in it, ask, and write a zip file.')
    .argument('<company>', 'its name, id or prefix')
    .option('-o, --out <file>', 'the zip file to write')
    .option('--issues', 'with the issues that are not over, as starter tasks')
    .option('--file <paths...>', 'only these files of the preview')
    .option('--preview', 'only show what would be in it')
    .option('-y, --yes', 'do not ask')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  $ service company export "Walrus Ltd" --out walrus.zip
  $ service company export WAL --issues --preview`,
    )
    .action(exportCompany)

async function exportCompany(name: string, options: ExportOptions): Promise<void> {
  if (!options.preview && options.out === undefined) {
    throw new CliError(EXIT.usage, 'Say where to with --out FILE.zip, or only look with --preview.')
  }
  const client = connect(options, process.env)
  const company = await findCompany(client, { ...options, company: name })
  const params = { companyId: company.id }
  const body = { include: { issues: options.issues ?? false }, ...(options.file && { selectedFiles: options.file }) }
  const preview = await client.request('POST /api/companies/:companyId/exports/preview', { params, body })
  if (options.json && options.preview) return printJson(preview)
  if (!options.json) show(preview)
  if (options.preview) return
  if (!options.yes && !(await confirm(`Write ${options.out}?`))) return print('Nothing was written.')
  const { files } = await client.request('POST /api/companies/:companyId/exports', { params, body })
  await writeFile(options.out!, await zip(files))
  if (options.json) return printJson({ out: options.out, files: Object.keys(files) })
  print(`${paint('good', 'Done.')} ${Object.keys(files).length} files are in ${options.out}.`)
}

function show({ fileInventory, counts, warnings }: Preview): void {
  const rows = fileInventory.map((file) => [file.path, String(file.bytes), file.reason])
  print(table([['File', 'Bytes', 'Why it is in'], ...rows]))
  print(`\n${counts.files} files, ${counts.bytes} bytes.`)
  if (warnings.length > 0) print(`\n${paint('waiting', 'Good to know:')}`)
  for (const warning of warnings) print(`  ${warning.path === null ? '' : `${warning.path}: `}${warning.message}`)
  print('')
}

/** The first moment that a zip can name: a package of the same files is the same file. */
const ZIP_EPOCH = new Date(1980, 0, 1)

async function zip(files: Files): Promise<Uint8Array> {
  // Loaded only where it packs: every other command starts without it.
  const { zipSync } = await import('fflate')
  const bytes = Object.entries(files).map(([path, content]) => [
    path,
    Buffer.from(typeof content === 'string' ? content : content.data, typeof content === 'string' ? 'utf8' : 'base64'),
  ])
  return zipSync(Object.fromEntries(bytes), { mtime: ZIP_EPOCH })
}
