import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { withPage } from '../../../src/clients/web/serve.ts'
import { createEvents } from '../../../src/platform/events.ts'

test('the page is served for its own addresses, its assets for ever, and everything else by the API', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'service-web-'))
  t.after(() => rmSync(folder, { recursive: true }))
  mkdirSync(path.join(folder, 'assets'))
  writeFileSync(path.join(folder, 'index.html'), '<meta name="event-id" content="{{eventId}}">')
  for (const suffix of ['', '.br', '.gz'])
    writeFileSync(path.join(folder, `assets/main-ABC.js${suffix}`), `js${suffix}`)
  const events = createEvents(new Date(5))
  const fetch = withPage({ events }, folder, () => new Response('API', { status: 299 }))
  const get = (target: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(new Request(`http://localhost${target}`, { method, headers }), undefined)

  for (const own of ['/', '/welcome', '/TER', '/TER/issues', '/TER/issues/TER-6', '/A1/agents/x/config']) {
    const response = await get(own)
    assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8', own)
    assert.equal(await response.text(), '<meta name="event-id" content="5000">')
    assert.match(response.headers.get('content-security-policy')!, /script-src 'self'; style-src 'self';/)
    assert.equal((await get(own, { 'if-none-match': response.headers.get('etag')! })).status, 304)
  }
  for (const other of [
    '/api/companies',
    '/login',
    '/account',
    '/llms/x.txt',
    '/ter',
    '/assets/none.js',
    '/assets/../x.js',
  ]) {
    assert.equal((await get(other)).status, 299, other)
  }
  assert.equal((await get('/', {}, 'POST')).status, 299)
  assert.equal(await (await get('/', {}, 'HEAD')).text(), '')

  for (const [accepted, encoding, body] of [
    ['gzip, br', 'br', 'js.br'],
    ['gzip', 'gzip', 'js.gz'],
    ['', null, 'js'],
  ] as const) {
    const response = await get('/assets/main-ABC.js', { 'accept-encoding': accepted })
    assert.equal(response.headers.get('content-encoding'), encoding)
    assert.match(response.headers.get('cache-control')!, /immutable/)
    assert.equal(await response.text(), body)
  }
})
