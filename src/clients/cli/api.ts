import { linkedCursor } from '../client/link.ts'
import { type Client, errorOf, type RawResponse } from '../connection/client.ts'
import { CliError, EXIT } from '../connection/exit-codes.ts'
import { many, text, toggle } from './command/flag.ts'
import { readJson, readText } from './command/input.ts'
import { print } from './command/output.ts'
import { showJson } from './command/result.ts'
import { verb } from './command/verb.ts'

export const apiCommand = () =>
  verb({
    name: 'api',
    summary: 'Send any request to the API and print the response.',
    args: ['<method>', '[path]', '[body]'],
    flags: {
      raw: many(text('-f, --raw-field <key=value...>', 'a text field of the body, or of the query of a GET')),
      typed: many(text('-F, --field <key=value...>', 'the same; true, false, null, numbers and @file are converted')),
      paginate: toggle('--paginate', 'request all pages of a list'),
      include: toggle('-i, --include', 'print the status and the headers first'),
    },
    examples: [
      'api GET /api/companies',
      'api issues/TER-6 --jq .title',
      `api POST /api/companies '{"name":"Walrus Ltd"}'`,
      'api PATCH /api/issues/TER-6 @change.json',
      'api POST /api/issues/TER-6/comments -f body="Well done."',
      'api "/api/companies?limit=1" --paginate',
    ],
    note: 'The default method is GET, or POST if there are fields. The body is JSON, @file, or -.',
    async run({ client, options }, [first, second, third], { raw = [], typed = [], paginate, include }) {
      const fields = await fieldsOf(raw, typed)
      const hasFields = Object.keys(fields).length > 0
      const isPathFirst = !METHODS.includes(first.toUpperCase())
      const method = isPathFirst ? (hasFields ? 'POST' : 'GET') : first.toUpperCase()
      const given = isPathFirst ? first : second
      if (given === undefined) throw new CliError(EXIT.usage, 'The path is missing, such as /api/companies.')
      const json = isPathFirst ? second : third
      const path = method === 'GET' && hasFields ? withQuery(absolute(given), fields) : absolute(given)
      const body =
        json !== undefined ? await readJson<unknown>(json) : method !== 'GET' && hasFields ? fields : undefined
      const response = await client.send({ method, path, ...(body !== undefined && { body }) })
      if (include) print(headOf(response))
      const content = paginate && response.status < 400 ? await readPages(client, path, response) : response.body
      if (response.status >= 400) {
        // The body has the details of the error. A filter expects the body of a success.
        if (options.jq === undefined && !process.stdout.isTTY) await printBody(content, {})
        throw errorOf(response, client)
      }
      await printBody(content, options)
    },
  })

const METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']

async function printBody(content: unknown, options: { json?: string; jq?: string }): Promise<void> {
  if (typeof content === 'string') {
    if (content !== '') print(content.trimEnd())
  } else if (options.json === '' && options.jq === undefined) print(JSON.stringify(content))
  else if (!(await showJson(options, content))) print(JSON.stringify(content, null, 2))
}

/** Converts `companies` and `api/companies` to `/api/companies`. */
const absolute = (path: string) => (path.startsWith('/') ? path : `/${path.startsWith('api/') ? '' : 'api/'}${path}`)

function withQuery(path: string, fields: Record<string, unknown>): string {
  const query = new URLSearchParams(
    Object.entries(fields).map(([key, value]): [string, string] => [key, String(value)]),
  )
  return `${path}${path.includes('?') ? '&' : '?'}${query}`
}

/** Requests the pages after the first one. Returns the entries of all pages. */
async function readPages(client: Client, path: string, first: RawResponse): Promise<unknown> {
  if (!Array.isArray(first.body)) return first.body
  const all: unknown[] = [...first.body]
  let response = first
  for (;;) {
    const after = linkedCursor(response.headers.link?.toString() ?? null)
    if (after === undefined) return all
    const url = new URL(path, client.url)
    url.searchParams.set('after', after)
    response = await client.send({ method: 'GET', path: `${url.pathname}${url.search}` })
    if (response.status >= 400) throw errorOf(response, client)
    all.push(...(response.body as unknown[]))
  }
}

async function fieldsOf(raw: readonly string[], typed: readonly string[]): Promise<Record<string, unknown>> {
  const split = (field: string): [string, string] => {
    const at = field.indexOf('=')
    if (at < 1) throw new CliError(EXIT.usage, `A field is key=value, not ${field}.`)
    return [field.slice(0, at), field.slice(at + 1)]
  }
  const converted = typed.map(split).map(async ([key, value]) => [key, await convert(value)])
  return Object.fromEntries([...raw.map(split), ...(await Promise.all(converted))])
}

async function convert(value: string): Promise<unknown> {
  if (value === '-' || value.startsWith('@')) return readText(value)
  return /^(true|false|null|-?\d+(\.\d+)?)$/.test(value) ? JSON.parse(value) : value
}

const headOf = ({ status, headers }: RawResponse) =>
  `${status}\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')}\n`
