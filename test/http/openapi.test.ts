import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type JsonSchema, toJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { agent, anyone, board } from '../../src/access/caller/who.ts'
import { createRequestAccess } from '../../src/access/request/request-access.ts'
import { route } from '../../src/access/route.ts'
import { COMPONENTS } from '../../src/clients/docs/components.ts'
import { ALL_ENDPOINTS, DOCUMENTED_ENDPOINTS } from '../../src/clients/routes.ts'
import { fetchFrom } from '../../src/http/in-process.ts'
import { takes } from '../../src/http/list.ts'
import { mount } from '../../src/http/mount.ts'
import { openapiDocument } from '../../src/http/openapi.ts'
import { type Access, type Operation, operationOf, type Parameter, type Response } from '../../src/http/operation.ts'
import type { Endpoint } from '../../src/http/route.ts'
import { createRouter } from '../../src/http/router.ts'
import { collectSchemas } from '../../src/http/schemas.ts'
import { requestOf } from '../contract/requests.ts'
import { createWorld } from '../contract/world.ts'
import { createTestApp } from '../helpers.ts'

const OPEN: Access = { mode: 'local_trusted', requireToken: false, trustProxy: false }

const SCHEMAS = collectSchemas(DOCUMENTED_ENDPOINTS, COMPONENTS)

type Document = ReturnType<typeof openapiDocument>

const operationsOf = (document: Document) =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  )

test('the document lists each endpoint once, with its parameters and responses', async (t) => {
  const { request: send } = createTestApp(t)
  const document: Document = (await send('GET', '/api/openapi.json')).body
  assert.equal(document.openapi, '3.1.0')
  const operations = operationsOf(document)
  assert.deepEqual(
    operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`).sort(),
    DOCUMENTED_ENDPOINTS.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`).sort(),
  )
  assert.equal(new Set(operations.map(({ operation }) => operation.operationId)).size, DOCUMENTED_ENDPOINTS.length)
  for (const { path, operation } of operations) {
    const declared = operation.parameters.filter((parameter) => parameter.in === 'path')
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    assert.deepEqual(
      declared.map(({ name }) => name),
      named,
      path,
    )
    assert.ok(
      declared.every(({ required, description }) => required && description),
      `${path}: what its parameters are stands in src/http/params.ts`,
    )
    assert.ok(
      Object.keys(operation.responses).some((status) => /^[23]/.test(status)),
      path,
    )
    assert.doesNotMatch(operation.summary, /\.$/, 'a summary is a sentence without a full stop')
  }
})

test('every reference of the document resolves', () => {
  checkReferences(openapiDocument(DOCUMENTED_ENDPOINTS, COMPONENTS, OPEN, 'session'))
})

test('a recursive schema becomes a named schema of the document', () => {
  type Tree = { name: string; reports: Tree[] }
  const Tree: v.GenericSchema<Tree> = v.strictObject({ name: v.string(), reports: v.array(v.lazy(() => Tree)) })
  const tree = route({
    id: 'trees.get',
    method: 'GET',
    path: '/trees',
    summary: 'Get a tree',
    who: [anyone],
    responses: { 200: v.array(Tree) },
    run: () => [],
  })
  const document = openapiDocument([tree], {}, OPEN, 'session')
  assert.ok(checkReferences(document) > 1)
  assert.ok(Object.keys(document.components.schemas).some((name) => name === 'TreesGetResponse'))
})

test('the router finds each endpoint by its path, with the values of its parameters', () => {
  const router = createRouter(ALL_ENDPOINTS)
  for (const endpoint of ALL_ENDPOINTS) {
    const names = Array.from(endpoint.path.matchAll(/:(\w+)/g), ([, name = '']) => name)
    const found = router.find(endpoint.method, endpoint.path.replaceAll(':', 'the%20'))
    assert.equal(found?.route, endpoint)
    assert.deepEqual(found.params, Object.fromEntries(names.map((name) => [name, `the ${name}`])))
  }
})

test('a path parameter excludes the .txt suffix of the path', async (t) => {
  const { ctx } = createTestApp(t)
  const text = route({
    id: 'texts.get',
    method: 'GET',
    path: '/texts/:name.txt',
    summary: 'Get a text',
    who: [anyone],
    responses: { 200: v.string() },
    run: (_, { params }) => params.name,
  })
  const agents = { findAgentOfKey: () => undefined, findAgentOfRunToken: async () => undefined }
  const request = fetchFrom(mount(ctx, [text], createRequestAccess(ctx, agents)))
  assert.equal(await (await request('/texts/a.b.txt')).json(), 'a.b')
  assert.equal((await request('/texts/a')).status, 404)
  assert.equal((await request('/texts/a.txt', { method: 'POST' })).status, 405)
})

for (const endpoint of ALL_ENDPOINTS.filter(({ body }) => body)) {
  test(`the body of ${endpoint.id} refuses an unknown field`, () => {
    const { issues } = v.safeParse(endpoint.body!, { 'no such field': 1 })
    const all = [...(issues ?? [])].flatMap((issue) => [issue, ...(issue.issues ?? [])])
    assert.ok(
      all.some((issue) => v.getDotPath(issue) === 'no such field'),
      JSON.stringify(issues),
    )
  })
}

test('every schema converts to JSON Schema, as input and as output', () => {
  for (const { id, query, body, responses } of ALL_ENDPOINTS) {
    for (const schema of [query, body, ...Object.values(responses)]) {
      if (!schema || typeof schema === 'string') continue
      for (const typeMode of ['input', 'output'] as const) {
        assert.doesNotThrow(() => toJsonSchema(schema, { errorMode: 'ignore', typeMode }), id)
      }
    }
  }
})

test('the document contains the API and excludes the sign-in pages', () => {
  const left = ALL_ENDPOINTS.filter((endpoint) => !DOCUMENTED_ENDPOINTS.includes(endpoint))
  assert.ok(left.length > 10)
  for (const { id } of left) assert.match(id, /^pages\./)
  for (const { path, form } of DOCUMENTED_ENDPOINTS) assert.ok(/^\/(api|llms)\//.test(path) && !form, path)
})

/** Groups the operations into those that match a condition and the others. */
function partitionOperations(matches: (endpoint: Endpoint) => boolean, access = OPEN) {
  const all = DOCUMENTED_ENDPOINTS.map((endpoint) => ({ endpoint, operation: operationOf(endpoint, SCHEMAS, access) }))
  return Map.groupBy(all, ({ endpoint }) => (matches(endpoint) ? 'matching' : 'other'))
}

const namesIn = ({ parameters }: Operation, place: Parameter['in']) =>
  parameters.filter((one) => one.in === place).map(({ name }) => name)

const successOf = ({ responses }: Operation) =>
  Object.entries(responses).find(([status]) => status.startsWith('2'))![1] as Response

test('only authenticated POST endpoints accept an Idempotency-Key', () => {
  const kinds = partitionOperations(({ method, who }) => method === 'POST' && !who.includes(anyone))
  for (const { operation } of kinds.get('matching')!)
    assert.ok(namesIn(operation, 'header').includes('Idempotency-Key'))
  for (const { operation } of kinds.get('other')!) assert.ok(!namesIn(operation, 'header').includes('Idempotency-Key'))
})

test('the document describes paginated lists, streams, files and texts with their content types', () => {
  const byId = Object.fromEntries(
    DOCUMENTED_ENDPOINTS.map((endpoint) => [endpoint.id, operationOf(endpoint, SCHEMAS, OPEN)]),
  )
  const issues = byId['issues.list']!
  assert.deepEqual(Object.keys(successOf(issues).headers!), ['X-Request-Id', 'Link', 'X-Total-Count'])
  const limit = issues.parameters.find(({ name }) => name === 'limit')!
  assert.deepEqual(limit.schema, { type: 'integer', minimum: 1, maximum: 1000, default: 500 })
  assert.equal(issues.responses['304'], undefined)

  const issue = byId['issues.get']!
  assert.deepEqual(Object.keys(successOf(issue).headers!), ['X-Request-Id', 'ETag'])
  assert.deepEqual(namesIn(issue, 'header'), ['If-None-Match'])
  assert.ok(issue.responses['304'])

  const events = byId['events.watch']!
  assert.deepEqual(successOf(events).content, { 'text/event-stream': { schema: { type: 'string' } } })
  assert.deepEqual(namesIn(events, 'header'), ['Last-Event-ID'])

  assert.deepEqual(Object.keys(successOf(byId['assets.get']!).content!), ['*/*'])
  assert.deepEqual(Object.keys(successOf(byId['guides.agentIcons']!).content!), ['text/plain'])
  const upload = byId['issues.attach']!.requestBody!
  assert.deepEqual(Object.keys(upload.content), ['multipart/form-data'])
  assert.equal(upload.required, true)

  const statuses = byId['approvals.list']!.parameters.find(({ name }) => name === 'status')!
  assert.deepEqual([statuses.schema.type, statuses.explode], ['array', false], 'with commas between')
})

test('every list is paginated, and count=true returns the total count', async (t) => {
  const world = await createWorld(t)
  const lists = DOCUMENTED_ENDPOINTS.filter((endpoint) => takes(endpoint, 'after') && endpoint.who.includes(board))
  assert.ok(lists.length > 20)
  let longest = 0
  for (const { id, method, path } of lists) {
    const request = await requestOf(world, method, path, 'board')
    const all = (await world.request('GET', `${request.path}?limit=1000`)).body
    const { headers, body } = await world.request('GET', `${request.path}?limit=1&count=true`)
    assert.equal(headers.get('x-total-count'), String(all.length), id)
    assert.deepEqual([body.length, headers.has('link')], [Math.min(1, all.length), all.length > 1], id)
    longest = Math.max(longest, all.length)
  }
  assert.ok(longest > 1)
})

test('a read that documents 304 returns an ETag, and 304 for it', async (t) => {
  const world = await createWorld(t)
  const reads = partitionOperations(({ method }) => method === 'GET')
    .get('matching')!
    .filter(({ operation, endpoint }) => operation.responses['304'] && endpoint.who.includes(board))
  assert.ok(reads.length > 20)
  for (const { endpoint } of reads) {
    const { path } = await requestOf(world, 'GET', endpoint.path, 'board')
    const { request: send } = endpoint.who.includes(agent) ? world.ceo : world
    const first = await send('GET', path)
    const again = await send('GET', path, undefined, { 'if-none-match': first.headers.get('etag') ?? '' })
    assert.ok(first.headers.has('etag'), endpoint.id)
    // A response that contains the current time differs each time.
    if (again.status !== 304) assert.notDeepEqual(again.body, first.body, endpoint.id)
  }
})

test('the security schemes match the mode of the server', async (t) => {
  const { request: send } = createTestApp(t)
  const closed = createTestApp(t, { mode: 'authenticated', trustProxy: true })
  const local: Document = (await send('GET', '/api/openapi.json')).body
  const authenticated: Document = (await closed.request('GET', '/api/openapi.json')).body
  const securityOf = (document: Document, path: string, method: string) => document.paths[path]![method]!.security
  const issue = ['/api/issues/{issueId}', 'get'] as const
  assert.deepEqual(securityOf(local, ...issue), [{}, { bearer: [] }, { session: [] }])
  assert.deepEqual(securityOf(authenticated, ...issue), [{ bearer: [] }, { session: [] }])
  assert.deepEqual(securityOf(local, '/api/agents/me/inbox', 'get'), [{ bearer: [] }])
  assert.deepEqual(securityOf(authenticated, '/api/auth/change-password', 'post'), [{ session: [] }])
  assert.deepEqual(securityOf(authenticated, '/api/health', 'get'), [{}])
  assert.match(authenticated.components.securitySchemes.session.name, /^__Host-service-[0-9a-f]{12}\.session_token$/)
})

/** The keywords of JSON Schema 2020-12 that the schemas may use. */
const KEYWORDS = new Set(
  `$ref type enum const properties required additionalProperties propertyNames items prefixItems anyOf oneOf allOf not
  description default examples format pattern minLength maxLength minItems maxItems uniqueItems minimum maximum
  exclusiveMinimum exclusiveMaximum multipleOf minProperties maxProperties contentMediaType contentEncoding title`.split(
    /\s+/,
  ),
)
const TYPES = ['string', 'number', 'integer', 'boolean', 'null', 'array', 'object']

/** Fails unless a value is a valid JSON Schema, including all nested schemas. */
function checkSchema(schema: JsonSchema, at: string): void {
  for (const key of Object.keys(schema)) assert.ok(KEYWORDS.has(key), `${at} has ${key}`)
  if (schema.type !== undefined) assert.ok(TYPES.includes(schema.type as string), at)
  if (schema.pattern !== undefined) assert.doesNotThrow(() => new RegExp(schema.pattern!, 'u'), at)
  for (const name of schema.required ?? []) assert.ok(schema.properties?.[name], `${at} requires ${name}`)
  if (schema.enum) assert.equal(new Set(schema.enum).size, schema.enum.length, at)
  const { properties = {}, anyOf = [], oneOf = [], allOf = [], items, additionalProperties, propertyNames } = schema
  const inner = { ...properties, ...[...anyOf, ...oneOf, ...allOf], items, additionalProperties, propertyNames }
  for (const [key, one] of Object.entries(inner)) {
    if (typeof one === 'object') checkSchema(one as JsonSchema, `${at}.${key}`)
  }
}

test('every schema of the document is a JSON Schema', () => {
  const document = openapiDocument(DOCUMENTED_ENDPOINTS, COMPONENTS, OPEN, 'session')
  for (const [name, schema] of Object.entries(document.components.schemas)) checkSchema(schema, name)
  for (const { operation } of operationsOf(document)) {
    const { operationId, parameters, requestBody, responses } = operation
    const contents = Object.values(responses).map((response) => ('content' in response ? (response.content ?? {}) : {}))
    const all = [requestBody?.content ?? {}, ...contents].flatMap((content) => Object.values(content))
    for (const { schema } of [...parameters, ...all]) checkSchema(schema, operationId)
  }
})

/** Fails if a reference does not resolve. @returns the number of references */
function checkReferences(document: Document): number {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, target]) => target!)
  for (const target of references) {
    const found = target
      .slice(2)
      .split('/')
      .reduce<unknown>((part, key) => (part as Record<string, unknown> | undefined)?.[key], document)
    assert.ok(target.startsWith('#/') && found, target)
  }
  return references.length
}

const DOCUMENT = openapiDocument(DOCUMENTED_ENDPOINTS, COMPONENTS, OPEN, 'session')

/** Yields a schema and every nested schema, each with its path. */
function* schemasIn(schema: JsonSchema, at: string): Generator<[JsonSchema, string]> {
  yield [schema, at]
  const { properties = {}, anyOf = [], oneOf = [], allOf = [], items, additionalProperties } = schema
  const inner = { ...properties, ...[...anyOf, ...oneOf, ...allOf], items, additionalProperties }
  for (const [key, one] of Object.entries(inner)) {
    if (typeof one === 'object') yield* schemasIn(one as JsonSchema, `${at}.${key}`)
  }
}

const NAMED = Object.entries(DOCUMENT.components.schemas as Record<string, JsonSchema>)

test('every JSON body and response refers to a named schema, and every name is used', () => {
  for (const { operation } of operationsOf(DOCUMENT)) {
    const { operationId, requestBody, responses } = operation
    const contents = [
      requestBody?.content ?? {},
      ...Object.values(responses).map((one) => ('content' in one ? (one.content ?? {}) : {})),
    ]
    for (const content of contents) {
      const schema = content['application/json']?.schema
      if (!schema) continue
      const [element] = (schema.anyOf ?? [schema.items ?? schema]) as JsonSchema[]
      assert.ok(element!.$ref, `${operationId}: ${JSON.stringify(schema).slice(0, 100)}`)
    }
  }
  const text = JSON.stringify(DOCUMENT)
  for (const [name] of NAMED) assert.ok(text.includes(`"#/components/schemas/${name}"`), name)
  for (const name of ['Issue', 'Agent', 'Approval', 'Run', 'NewIssue', 'Interaction']) {
    assert.ok(name in DOCUMENT.components.schemas, name)
  }
})

test('requests refuse unknown fields, and responses may get new ones', () => {
  const bodies = new Set<string>()
  for (const { operation } of operationsOf(DOCUMENT)) {
    const ref = operation.requestBody?.content['application/json']?.schema.$ref
    if (ref) bodies.add(ref.split('/').at(-1)!)
  }
  assert.ok(bodies.size > 60)
  for (const [name, schema] of NAMED) {
    for (const [one, at] of schemasIn(schema, name)) {
      if (one.properties) assert.equal(one.additionalProperties === false, bodies.has(name), at)
    }
  }
})

test('every field, parameter, operation, response and group has a description', () => {
  const missing: string[] = []
  for (const [name, schema] of NAMED) {
    for (const [one, at] of schemasIn(schema, name)) {
      for (const [field, inner] of Object.entries((one.properties ?? {}) as Record<string, JsonSchema>)) {
        if (!inner.description) missing.push(`${at}.${field}: src/http/field-descriptions.ts`)
      }
    }
  }
  for (const { operation } of operationsOf(DOCUMENT)) {
    for (const { name, description } of operation.parameters) {
      if (!description) missing.push(`${operation.operationId}?${name}: src/http/field-descriptions.ts`)
    }
    if (!operation.summary || !operation.description) missing.push(operation.operationId)
  }
  for (const { name, description } of DOCUMENT.tags) if (!description) missing.push(`${name}: src/http/tags.ts`)
  assert.deepEqual(missing, [])
})

test('each operation lists its errors and uses tags of the document', () => {
  const tags = DOCUMENT.tags.map(({ name }) => name)
  assert.deepEqual(new Set(tags).size, tags.length)
  for (const { method, path, operation } of operationsOf(DOCUMENT)) {
    const statuses = Object.keys(operation.responses)
    assert.ok(statuses.includes('403'), `${operation.operationId} has no 4xx`)
    if (method !== 'get') for (const status of ['400', '413', '415', '422']) assert.ok(statuses.includes(status), path)
    if (path.includes('{')) assert.ok(statuses.includes('404'), path)
    for (const tag of operation.tags) assert.ok(tags.includes(tag), tag)
  }
  assert.deepEqual([DOCUMENT.info.license.identifier, DOCUMENT.servers[0]!.url], ['MIT', '/'])
})

test('a flag is a boolean, a count is an integer', () => {
  const byId = Object.fromEntries(operationsOf(DOCUMENT).map(({ operation }) => [operation.operationId, operation]))
  const unread = byId['inbox.list']!.parameters.find(({ name }) => name === 'unread')!
  assert.deepEqual(unread.schema, { type: 'boolean', default: false })
  assert.ok(!JSON.stringify(DOCUMENT.paths).includes('["true","false"]'))
  const fractional = new Set<string>()
  for (const [name, schema] of NAMED) {
    for (const [one] of schemasIn(schema, name)) {
      for (const [field, inner] of Object.entries((one.properties ?? {}) as Record<string, JsonSchema>)) {
        const isContainer = [...schemasIn(inner, field)].some(([part]) => part.properties)
        if (!isContainer && [...schemasIn(inner, field)].some(([part]) => part.type === 'number')) fractional.add(field)
      }
    }
  }
  for (const field of fractional) assert.match(field, /[cC]ents|Percent/, field)
})

test('the example of each body is valid', () => {
  const bodies = DOCUMENTED_ENDPOINTS.filter(({ body, upload }) => body && !upload)
  assert.ok(bodies.length > 60)
  for (const { id, path, method, body } of bodies) {
    const operation = DOCUMENT.paths[path.replaceAll(/:(\w+)/g, '{$1}')]![method.toLowerCase()]!
    const { example } = operation.requestBody!.content['application/json']!
    const { issues } = v.safeParse(body!, example)
    assert.equal(issues, undefined, `${id}: ${JSON.stringify(example)}`)
  }
})
