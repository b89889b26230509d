import { existsSync, openAsBlob } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { createClient } from '../../client/client.ts'
import { CliError, EXIT, lineOf } from '../../connection/exit-codes.ts'
import { text } from '../command/flag.ts'
import { ago, shortId } from '../command/output.ts'
import type { Scope } from '../command/scope.ts'
import { act, create, list, noun, remove } from '../command/verb.ts'

/** Finds an attachment of an issue by its file name or id. */
async function findAttachment({ client }: Scope, issueId: string, ref: string) {
  const all = await client.request('GET /api/issues/:issueId/attachments', { params: { issueId } })
  const found = all.findLast(({ id, fileName }) => id.endsWith(ref) || fileName === ref)
  if (!found) throw new CliError(EXIT.notFound, `The issue ${issueId} has no file ${ref}.`)
  return found
}

export const attachmentCommand = () =>
  noun('attachment', 'Attachments: files on issues.', [
    list({
      summary: 'List the files on an issue.',
      args: ['<issue>'],
      examples: ['attachment list TER-6'],
      empty: 'It has no files. Attach one with `service attachment create`.',
      load: (scope, _, [issueId]) =>
        scope.client.request('GET /api/issues/:issueId/attachments', { params: { issueId } }),
      columns: {
        File: ({ fileName }) => fileName,
        Type: ({ contentType }) => contentType,
        Bytes: ({ byteSize }) => byteSize,
        Age: ({ createdAt }) => ago(createdAt),
        Id: ({ id }) => shortId(id),
      },
    }),
    create({
      summary: 'Attach a file to an issue.',
      args: ['<issue>', '<file>'],
      examples: ['attachment create TER-6 data.md'],
      async send({ client }, [issueId, file]) {
        const form = new FormData()
        if (!existsSync(file)) throw new CliError(EXIT.usage, `There is no file ${file}.`)
        const content = await openAsBlob(file).catch((error) => {
          throw new CliError(EXIT.usage, `Cannot read ${file}: ${lineOf(error)}`)
        })
        form.append('file', content, path.basename(file))
        // A form needs `fetch`, which other commands avoid because it takes 20 ms to load.
        const uploader = createClient({ url: client.url, credential: client.token })
        return uploader.request('POST /api/issues/:issueId/attachments', { params: { issueId }, body: form })
      },
      text: ({ fileName, byteSize }) => `${fileName} is attached (${byteSize} bytes).`,
    }),
    act({
      name: 'download',
      summary: 'Download a file of an issue.',
      args: ['<issue>', '<file>'],
      flags: { out: text('-o, --out <path>', 'where to write it (default: its own name)') },
      examples: ['attachment download TER-6 tides.csv --out tides.csv'],
      async send(scope, [issueId, ref], { out }) {
        const { url, fileName, byteSize } = await findAttachment(scope, issueId, ref)
        const { token, url: server } = scope.client
        const response = await fetch(new URL(url, server), {
          headers: token ? { authorization: `Bearer ${token}` } : {},
        })
        if (!response.ok) throw new CliError(EXIT.failure, `The server responded with status ${response.status}.`)
        const file = out ?? path.basename(fileName)
        await writeFile(file, Buffer.from(await response.arrayBuffer()))
        return { file, byteSize }
      },
      text: ({ file, byteSize }) => `${file} has ${byteSize} bytes.`,
    }),
    remove({
      summary: 'Remove a file from its issue.',
      args: ['<issue>', '<file>'],
      examples: ['attachment delete TER-6 tides.csv --yes'],
      ask: ([issue, file]) => `Remove ${file} from ${issue}?`,
      send: async (scope, [issueId, ref]) =>
        scope.client.request('DELETE /api/attachments/:attachmentId', {
          params: { attachmentId: (await findAttachment(scope, issueId, ref)).id },
        }),
      text: ({ fileName }) => `${fileName} is removed.`,
    }),
  ])
