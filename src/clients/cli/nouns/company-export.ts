import { writeFile } from 'node:fs/promises'
import type { ResponseOf } from '../../client/types.ts'
import { CliError, EXIT } from '../../connection/exit-codes.ts'
import { confirm } from '../command/ask.ts'
import { findCompany } from '../command/find.ts'
import { many, text, toggle } from '../command/flag.ts'
import { paint, print, table } from '../command/output.ts'
import { verb } from '../command/verb.ts'

type Preview = ResponseOf<'POST /api/companies/:companyId/exports/preview'>
type Files = ResponseOf<'POST /api/companies/:companyId/exports'>['files']

export const exportCommand = () =>
  verb({
    name: 'export',
    summary: 'Export a company as a package: list its files, confirm, and write a zip file.',
    args: ['<company>'],
    flags: {
      out: text('-o, --out <file>', 'the zip file to write'),
      issues: toggle('--issues', 'with the open issues, as starter tasks'),
      files: many(text('--file <paths...>', 'only these files of the preview')),
      preview: toggle('--preview', 'only show the files'),
      yes: toggle('-y, --yes', 'do not prompt for a confirmation'),
    },
    examples: ['company export "Tern & Co" --out tern.zip --yes', 'company export TER --issues --preview'],
    async run({ client, options }, [ref], { out, issues, files: selectedFiles, preview: isPreview }) {
      if (!isPreview && out === undefined) {
        throw new CliError(EXIT.usage, 'Name the file to write with --out FILE.zip, or list the files with --preview.')
      }
      const params = { companyId: (await findCompany(client, ref)).id }
      const body = { include: { issues: issues ?? false }, ...(selectedFiles && { selectedFiles }) }
      const preview = await client.request('POST /api/companies/:companyId/exports/preview', { params, body })
      if (isPreview) return { value: preview, text: () => describe(preview) }
      const asksForText = options.json === undefined && options.jq === undefined
      if (asksForText) print(describe(preview))
      if (!(await confirm(options, `Write ${out}?`))) throw new CliError(EXIT.failure, 'Nothing was written.')
      const { files } = await client.request('POST /api/companies/:companyId/exports', { params, body })
      await writeFile(out!, await zip(files))
      return {
        value: { out, files: Object.keys(files) },
        text: () => `${paint('good', 'Done.')} ${Object.keys(files).length} files are in ${out}.`,
      }
    },
  })

function describe({ fileInventory, counts, warnings }: Preview): string {
  const rows = fileInventory.map((file) => [file.path, String(file.bytes), file.reason])
  const notes = warnings.map(({ path, message }) => `  ${path === null ? '' : `${path}: `}${message}`)
  return [
    table([['File', 'Bytes', 'Why it is in'], ...rows]),
    `\n${counts.files} files, ${counts.bytes} bytes.`,
    ...(notes.length > 0 ? [`\n${paint('waiting', 'Warnings:')}`, ...notes] : []),
    '',
  ].join('\n')
}

/** The earliest time that a zip file can store. Equal packages become equal files. */
const ZIP_EPOCH = new Date(1980, 0, 1)

async function zip(files: Files): Promise<Uint8Array> {
  // Loaded on demand, so that other commands start faster.
  const { zipSync } = await import('fflate')
  const bytes = Object.entries(files).map(([path, content]) => [
    path,
    Buffer.from(typeof content === 'string' ? content : content.data, typeof content === 'string' ? 'utf8' : 'base64'),
  ])
  return zipSync(Object.fromEntries(bytes), { mtime: ZIP_EPOCH })
}
