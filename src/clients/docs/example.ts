import type { JsonSchema } from '@valibot/to-json-schema'
import type { Operation } from '../../http/operation.ts'
import type { Endpoint } from '../../http/route.ts'
import { SAMPLE_TEXTS, sampleOf } from '../../http/sample.ts'
import type { Schemas } from '../../http/schemas.ts'
import { EVENT_STREAM } from '../../http/sse.ts'
import { toShellJson } from '../guide/examples.ts'

/**
 * Returns an example request of an endpoint as a shell command. Ids are shell
 * variables: `$COMPANY_ID`.
 *
 * @param components the schemas that the operation refers to
 * @param base the server's URL
 */
export function curlOf(
  { method, path, responses }: Endpoint,
  operation: Operation,
  components: Schemas['components'],
  base: string,
): string {
  const sample = (schema: JsonSchema, name?: string) => sampleOf(schema, { components, text: shellText }, name)
  const [type, { schema }] = Object.entries(operation.requestBody?.content ?? {})[0] ?? ['', { schema: {} }]
  const query = operation.parameters.filter((one) => one.in === 'query' && one.required)
  const search = query.map(({ name, schema }) => `${name}=${sample(schema, name)}`).join('&')
  const url = `${base}${path.replaceAll(/:(\w+)/g, (_, name) => variableOf(name))}${search && `?${search}`}`
  const lines = [
    `curl -sS${responses[200] === EVENT_STREAM ? 'N' : ''}${method === 'GET' ? '' : ` -X ${method}`} "${url}"`,
    ...credentialOf(operation),
    ...(type === 'application/json'
      ? ['-H "Content-Type: application/json"', `-d '${toShellJson(sample(schema), 0)}'`]
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

/** Converts `companyId` to `$COMPANY_ID`. */
const variableOf = (name: string) => `$${name.replaceAll(/[A-Z]/g, '_$&').toUpperCase()}`

/** Returns the example value of a text field. An id becomes a shell variable. */
export function shellText(name: string, { format }: JsonSchema): string {
  if (format === 'date-time') return '2026-11-21T09:00:00.000Z'
  return /Ids?$/.test(name) ? variableOf(name.replace(/s$/, '')) : (SAMPLE_TEXTS[name] ?? 'text')
}
