import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { createApp, ENDPOINTS } from '../../src/http/app.ts'
import { openapiDocument } from '../../src/http/openapi.ts'
import { route } from '../../src/http/route.ts'
import { anyone } from '../../src/http/who.ts'
import { createTestApp } from '../helpers.ts'

interface Operation {
  operationId: string
  summary: string
  parameters: { name: string; in: string; required: boolean; schema: object }[]
  requestBody?: { content: Record<string, { schema: object }> }
  responses: Record<string, { description: string }>
}

type Document = ReturnType<typeof openapiDocument>

const operationsOf = (document: Document) =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation: operation as Operation })),
  )

test('the document has each endpoint, once, with its parameters and answers', async (t) => {
  const { ask } = createTestApp(t)
  const document: Document = (await ask('GET', '/api/openapi.json')).body
  assert.equal(document.openapi, '3.1.0')
  const operations = operationsOf(document)
  assert.deepEqual(
    operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`).sort(),
    ENDPOINTS.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`).sort(),
  )
  assert.equal(new Set(operations.map(({ operation }) => operation.operationId)).size, ENDPOINTS.length)
  for (const { path, operation } of operations) {
    const declared = operation.parameters.filter((parameter) => parameter.in === 'path')
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    assert.deepEqual(
      declared.map(({ name }) => name),
      named,
      path,
    )
    assert.ok(
      declared.every(({ required }) => required),
      path,
    )
    assert.ok(
      Object.keys(operation.responses).some((status) => /^[23]/.test(status)),
      path,
    )
    assert.doesNotMatch(operation.summary, /\.$/, 'a summary is a sentence without a full stop')
  }
})

test('every reference of the document resolves', () => {
  checkReferences(openapiDocument(ENDPOINTS))
})

test('a schema that refers to itself is a schema of the document', () => {
  type Tree = { name: string; reports: Tree[] }
  const Tree: v.GenericSchema<Tree> = v.strictObject({ name: v.string(), reports: v.array(v.lazy(() => Tree)) })
  const tree = route({
    id: 'trees.get',
    method: 'GET',
    path: '/trees',
    summary: 'Get a tree',
    who: [anyone],
    answers: { 200: v.array(Tree) },
    run: () => [],
  })
  const document = openapiDocument([tree])
  assert.ok(checkReferences(document) > 1)
  assert.ok(Object.keys(document.components.schemas).some((name) => name.startsWith('trees.get')))
})

test('every endpoint is mounted, and nothing else is', (t) => {
  const { ctx } = createTestApp(t)
  const mounted = createApp(ctx).routes.map(({ method, path }) => `${method} ${path.replace('{[^/]+\\.txt}', '.txt')}`)
  assert.deepEqual(mounted.sort(), ENDPOINTS.map(({ method, path }) => `${method} ${path}`).sort())
})

test('a path that ends in .txt has its parameter without that', async (t) => {
  const { ctx } = createTestApp(t)
  const { Hono } = await import('hono')
  const { mount } = await import('../../src/http/mount.ts')
  const app = new Hono()
  const text = route({
    id: 'texts.get',
    method: 'GET',
    path: '/texts/:name.txt',
    summary: 'Get a text',
    who: [anyone],
    answers: { 200: v.string() },
    run: (_, { params }) => params.name,
  })
  mount(app, ctx, [text])
  assert.equal(await (await app.request('/texts/a.b.txt')).json(), 'a.b')
  assert.equal((await app.request('/texts/a')).status, 404)
  assert.equal((await app.request('/texts/a.txt', { method: 'POST' })).status, 405)
})

for (const endpoint of ENDPOINTS.filter(({ body }) => body)) {
  test(`the body of ${endpoint.id} refuses a field it does not have`, () => {
    const { issues } = v.safeParse(endpoint.body!, { 'no such field': 1 })
    const all = [...(issues ?? [])].flatMap((issue) => [issue, ...(issue.issues ?? [])])
    assert.ok(
      all.some((issue) => v.getDotPath(issue) === 'no such field'),
      JSON.stringify(issues),
    )
  })
}

test('every schema converts, as what goes in and as what comes out', () => {
  for (const { id, query, body, answers } of ENDPOINTS) {
    for (const schema of [query, body, ...Object.values(answers)]) {
      if (!schema) continue
      for (const typeMode of ['input', 'output'] as const) {
        assert.doesNotThrow(() => toJsonSchema(schema, { errorMode: 'ignore', typeMode }), id)
      }
    }
  }
})

test('the readable page names every endpoint', async (t) => {
  const { ask } = createTestApp(t)
  const { body, headers } = await ask('GET', '/api/docs')
  assert.match(headers.get('content-type') ?? '', /^text\/html/)
  for (const { path } of ENDPOINTS) assert.ok(body.includes(`<code>${path}</code>`), path)
})

/** @returns how many references there are */
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
