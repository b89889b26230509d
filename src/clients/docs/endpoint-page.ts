import { STATUS_CODES } from 'node:http'
import type { JsonSchema } from '@valibot/to-json-schema'
import { html } from 'hono/html'
import type { Html } from '../../http/html-page.ts'
import { HEADERS } from '../../http/openapi.ts'
import { type Access, type Operation, operationOf, type Parameter, type Response } from '../../http/operation.ts'
import type { Endpoint } from '../../http/route.ts'
import { collectSchemas, resolveSchema, type Schemas } from '../../http/schemas.ts'
import { keyOf, typeOf } from '../guide/keys.ts'
import { curlOf } from './example.ts'
import { fieldsOf } from './fields.ts'
import { fieldList, prose } from './prose.ts'

/**
 * Renders the documentation of an endpoint: its example, parameters, body and responses.
 *
 * @param base the server's URL, for the example
 */
export function endpointBody(endpoint: Endpoint, access: Access, base: string): Html {
  const schemas = collectSchemas([endpoint])
  const operation = operationOf(endpoint, schemas, access)
  const { method, path, description, who, id } = endpoint
  return html`<p class="route"><span class="method">${method}</span> <code>${path}</code></p>
${description !== undefined && html`<p>${prose(description)}</p>`}
<p>Callers: ${who.map(({ name }) => name).join(', ')}. <span class="hint">Operation <code>${id}</code></span></p>
<h2>Example</h2>
<pre><code>${curlOf(endpoint, operation, schemas.components, base)}</code></pre>
${
  operation.parameters.length > 0 &&
  html`<h2>Parameters</h2>
${PLACES.map(([place, title]) => parametersIn(operation, place, title))}`
}${operation.requestBody && bodyOf(operation.requestBody, schemas)}
<h2>Responses</h2>
${Object.entries(operation.responses).map(([status, response]) => ('$ref' in response ? html`` : responseOf(status, response, schemas)))}
<p>Every other response is an <a href="/api/docs/errors">error</a>.</p>`
}

const PLACES: readonly [Parameter['in'], string][] = [
  ['path', 'In the path'],
  ['query', 'In the query'],
  ['header', 'In the headers'],
]

function parametersIn({ parameters }: Operation, place: Parameter['in'], title: string): Html {
  const keys = parameters
    .filter((parameter) => parameter.in === place)
    .map(({ name, required, description = '', schema }) => ({ ...keyOf(name, schema, required), description }))
  return keys.length > 0 ? html`<h3>${title}</h3>\n${fieldList(keys, 'input')}` : html``
}

function bodyOf(body: NonNullable<Operation['requestBody']>, schemas: Schemas): Html {
  return html`<h2>Body</h2>
${Object.entries(body.content).map(
  ([type, { schema }]) => html`<p><code>${type}</code>${!body.required && ' (optional)'}. ${body.description}</p>
${shapeOf(schema, schemas, 'input')}`,
)}`
}

function responseOf(status: string, { headers = {}, content, description }: Response, schemas: Schemas): Html {
  const names = Object.keys(headers).filter((name) => name !== 'X-Request-Id') as (keyof typeof HEADERS)[]
  const isError = Number(status) >= 300
  return html`<h3>${status} ${STATUS_CODES[status]}</h3>
${isError && html`<p>${description}</p>`}${
  !isError &&
  Object.entries(content ?? {}).map(
    ([type, { schema }]) =>
      html`<p>${type === 'application/json' ? sortOf(schema, schemas) : html`<code>${type}</code>`}</p>\n${shapeOf(schema, schemas, 'output')}`,
  )
}${
  names.length > 0 &&
  html`<h4>Headers</h4><dl>${names.map((name) => html`<div><dt><code>${name}</code></dt><dd>${prose(HEADERS[name].description)}</dd></div>`)}</dl>`
}`
}

function sortOf(schema: JsonSchema, { components }: Schemas): string {
  const resolved = resolveSchema(schema, components)
  if (resolved.type === 'array') return 'A list of objects with'
  return resolved.properties ? 'An object with' : typeOf(resolved)
}

function shapeOf(schema: JsonSchema, schemas: Schemas, shows: Parameters<typeof fieldList>[1]): Html | false {
  const fields = fieldsOf(schema, schemas.components)
  return fields.length > 0 && fieldList(fields, shows)
}
