import assert from 'node:assert/strict'
import { test } from 'node:test'
import { splitTarget } from '../../src/http/handler.ts'
import { createRouter } from '../../src/http/router.ts'

const router = createRouter(
  [
    'GET /',
    'GET /agents/:agentId',
    'GET /agents/me',
    'GET /agents/:agentId/runs',
    'GET /agents/me/inbox',
    'PATCH /agents/:agentId',
    'GET /texts/:name.txt',
    'GET /texts/:name',
  ].map((line) => {
    const [method = '', path = ''] = line.split(' ')
    return { method, path }
  }),
)

for (const [request, path, params] of [
  ['GET /', '/', {}],
  ['GET /agents/me', '/agents/me', {}],
  ['GET /agents/7', '/agents/:agentId', { agentId: '7' }],
  ['GET /agents/me/inbox', '/agents/me/inbox', {}],
  ['GET /agents/me/runs', '/agents/:agentId/runs', { agentId: 'me' }],
  ['PATCH /agents/me', '/agents/:agentId', { agentId: 'me' }],
  ['GET /%61gents/a%20%2F', '/agents/:agentId', { agentId: 'a /' }],
  ['GET /agents/%E0%A4%A', '/agents/:agentId', { agentId: '%E0%A4%A' }],
  ['GET /agents/__proto__', '/agents/:agentId', { agentId: '__proto__' }],
  ['GET /texts/a.b.txt', '/texts/:name.txt', { name: 'a.b' }],
  ['GET /texts/.txt', '/texts/:name', { name: '.txt' }],
  ['GET /texts/a', '/texts/:name', { name: 'a' }],
  ['GET /agents', undefined, undefined],
  ['GET /agents/', undefined, undefined],
  ['GET /agents/7/', undefined, undefined],
  ['GET //agents/7', undefined, undefined],
  ['GET /agents%2F7', undefined, undefined],
  ['GET /Agents/7', undefined, undefined],
  ['DELETE /agents/7', undefined, undefined],
] as const) {
  test(`the route of ${request} is ${path ?? 'unknown'}`, () => {
    const [method = '', target = ''] = request.split(' ')
    const found = router.find(method, target)
    assert.deepEqual([found?.route.path, found?.params], [path, params])
  })
}

test('the router lists the methods of a path', () => {
  assert.deepEqual(router.methodsOf('/agents/me'), ['GET', 'PATCH'])
  assert.deepEqual(router.methodsOf('/texts/a'), ['GET'])
  assert.deepEqual(router.methodsOf('/nothing'), [])
})

for (const [target, path, search] of [
  ['/a?b=c&d', '/a', '?b=c&d'],
  ['/a/./b/../c', '/a/c', ''],
  ['/../../a', '/a', ''],
  ['//a/b', '//a/b', ''],
  ['/a?b=/../c', '/a', '?b=/../c'],
  ['/a#b?c', '/a', ''],
  ['/a?b#c', '/a', '?b'],
  ['/%2e%2E/a%20b', '/a%20b', ''],
  ['/caf\u00e9 "', '/caf%C3%A9%20%22', ''],
  ['/a?', '/a', undefined],
] as const) {
  test(`the target ${target} has the path ${path}`, () => {
    const found = splitTarget(target)
    assert.equal(found?.path, path)
    if (search !== undefined) assert.equal(found.search, search)
  })
}

test('a target with a backslash in its path is not valid', () => {
  assert.equal(splitTarget('/a\\b'), undefined)
  assert.deepEqual(splitTarget('/a?b\\c'), { path: '/a', search: '?b\\c' })
})
