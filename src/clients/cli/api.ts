import { Command } from 'commander'
import type { RawResponse } from '../connection/client.ts'
import { errorOf } from '../connection/client.ts'
import { type ConnectionOptions, connect, withConnection } from '../connection/connect.ts'
import { readJson } from './input.ts'
import { print } from './output.ts'

interface ApiOptions extends ConnectionOptions {
  include?: boolean
  json?: boolean
}

export const apiCommand = () =>
  withConnection(new Command('api'))
    .description('Ask the API anything and print its answer.')
    .argument('<method>', 'GET, POST, PATCH, PUT or DELETE')
    .argument('<path>', 'such as /api/companies')
    .argument('[body]', 'JSON, or @file, or - for standard input')
    .option('-i, --include', 'print the status and the headers first')
    .option('--json', 'print the answer as one line')
    .addHelpText(
      'after',
      `
Examples:
  $ service api GET /api/companies
  $ service api POST /api/companies '{"name":"Tern & Co"}'
  $ service api PATCH /api/issues/TER-1 @change.json
  $ echo '{"body":"Well done."}' | service api POST /api/issues/TER-1/comments -`,
    )
    .action(api)

async function api(method: string, path: string, bodyText: string | undefined, options: ApiOptions): Promise<void> {
  const body = bodyText === undefined ? undefined : await readJson<unknown>(bodyText)
  const question = { method: method.toUpperCase(), path: path.startsWith('/') ? path : `/${path}` }
  const client = connect(options, process.env)
  const answer = await client.send({ ...question, ...(body !== undefined && { body }) })
  if (options.include) print(headOf(answer))
  const isText = typeof answer.body === 'string'
  if (answer.text !== '')
    print(isText ? answer.text.trimEnd() : JSON.stringify(answer.body, null, options.json ? 0 : 2))
  if (answer.status >= 400) throw errorOf(answer, client)
}

const headOf = ({ status, headers }: RawResponse) =>
  `${status}\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')}\n`
