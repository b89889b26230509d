import type { JsonSchema } from '@valibot/to-json-schema'
import type { Operation } from '../../http/operation.ts'
import type { Endpoint } from '../../http/route.ts'
import { EVENT_STREAM } from '../../http/sse.ts'
import { toShellJson } from '../guide/examples.ts'
import { variantsOf } from '../guide/keys.ts'

/**
 * A request as a shell command, made from what the endpoint takes. Ids stand
 * in it as variables: `$COMPANY_ID`.
 *
 * @param base the server's URL
 */
export function curlOf({ method, path, responses }: Endpoint, operation: Operation, base: string): string {
  const [type, { schema }] = Object.entries(operation.requestBody?.content ?? {})[0] ?? ['', { schema: {} }]
  const query = operation.parameters.filter((one) => one.in === 'query' && one.required)
  const search = query.map(({ name, schema }) => `${name}=${sampleOf(schema, name)}`).join('&')
  const url = `${base}${path.replaceAll(/:(\w+)/g, (_, name) => variableOf(name))}${search && `?${search}`}`
  const lines = [
    `curl -sS${responses[200] === EVENT_STREAM ? 'N' : ''}${method === 'GET' ? '' : ` -X ${method}`} "${url}"`,
    ...credentialOf(operation),
    ...(type === 'application/json'
      ? ['-H "Content-Type: application/json"', `-d '${toShellJson(sampleOf(schema), 0)}'`]
      : []),
    ...(type === 'multipart/form-data' ? ['-F "file=@picture.png"'] : []),
    ...(responses[200] === '*/*' ? ['-O -J'] : []),
  ]
  return lines.join(' \\\n  ')
}

function credentialOf({ security }: Operation): string[] {
  if (security.some((one) => Object.keys(one).length === 0)) return []
  return [security.some((one) => one.bearer) ? '-H "Authorization: Bearer $SERVICE_API_KEY"' : '-b cookies.txt']
}

/** `companyId` as `$COMPANY_ID`. */
const variableOf = (name: string) => `$${name.replaceAll(/[A-Z]/g, '_$&').toUpperCase()}`

/** A value that a schema takes: of an object what is required, or else its first field. */
export function sampleOf(schema: JsonSchema, name = ''): unknown {
  const { examples, default: fallback, enum: values, properties, required = [] } = schema
  if (Array.isArray(examples)) return examples[0]
  if (fallback !== undefined) return fallback
  if (schema.const !== undefined) return schema.const
  if (values) return values[0]
  const variant = variantsOf(schema).find(({ type }) => type !== 'null')
  if (variant) return sampleOf(variant, name)
  if (schema.type === 'array') return [sampleOf((schema.items ?? {}) as JsonSchema, name)]
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum || 1
  if (schema.type === 'boolean') return true
  if (schema.type === 'string') return textFor(name, schema)
  const names = required.length > 0 ? required : Object.keys(properties ?? {}).slice(0, 1)
  return Object.fromEntries(names.map((one) => [one, sampleOf((properties?.[one] ?? {}) as JsonSchema, one)]))
}

function textFor(name: string, { format }: JsonSchema): string {
  if (format === 'date-time') return '2026-11-21T09:00:00.000Z'
  return /Ids?$/.test(name) ? variableOf(name.replace(/s$/, '')) : (WORDS[name] ?? 'text')
}

/** What could stand in a field of such a name. */
const WORDS: Record<string, string> = {
  agentMessage: 'We need a translator.',
  body: 'Well done.',
  color: '#1a2b3c',
  confirm: 'Tern & Co',
  currentPassword: 'correct horse battery',
  decisionNote: 'As we discussed.',
  desiredSkills: 'weekly-report',
  email: 'ada@example.com',
  model: 'sonnet',
  name: 'Nora',
  newPassword: 'a better horse battery',
  path: '/srv/project/AGENTS.md',
  password: 'correct horse battery',
  provider: 'anthropic',
  q: 'walrus',
  reason: 'Something is off.',
  title: 'Count the walruses',
  url: 'https://github.com/ada/company',
  value: 'a value that stays secret',
}
