import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { withPage } from '../../../src/clients/web/serve.ts'
import type { HttpRequest, HttpResponse } from '../../../src/http/handler.ts'
import { fetchFrom } from '../../../src/http/in-process.ts'
import { createEvents } from '../../../src/platform/events.ts'

test('the page is served at its own paths, its assets are cached forever, and the API serves all other paths', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'service-web-'))
  t.after(() => rmSync(folder, { recursive: true }))
  mkdirSync(path.join(folder, 'assets'))
  writeFileSync(path.join(folder, 'index.html'), '<meta name="event-id" content="{{eventId}}">')
  for (const suffix of ['', '.br', '.gz'])
    writeFileSync(path.join(folder, `assets/main-ABC.js${suffix}`), `js${suffix}`)
  const events = createEvents(new Date(5))
  const fetch = fetchFrom(withPage({ events }, folder, () => ({ status: 418, headers: {}, body: 'API' })))
  const get = (target: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(target, { method, headers })

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
    assert.equal((await get(other)).status, 418, other)
  }
  assert.equal((await get('/', {}, 'POST')).status, 418)
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

test('the page contains the data of its first view, with the permissions of the person', async (t) => {
  const { folder, fetch, asked: requested } = arrange(t)
  const open = async (headers: Record<string, string>) => (await fetch('/TER/issues/TER-6', { headers })).text()

  const notPassedOn = ['accept', 'authorization', 'if-none-match', 'x-other']
  const html = await open({ cookie: 'session=1', ...Object.fromEntries(notPassedOn.map((name) => [name, '1'])) })
  const record = JSON.parse(/<i id="boot">(.*)<\/i>/.exec(html)![1]!)
  assert.equal(record.session.name, 'A </script> person')
  assert.equal(record.company.id, 'c1')
  assert.deepEqual(record.company.agents, [{ at: '/api/companies/c1/agents' }])
  assert.ok(!html.includes('</script>'), 'a text must not end the script element')
  assert.match(html, /<link rel="modulepreload" href="\/assets\/issue-A\.js">/)
  assert.ok(requested.length > 0)
  for (const { header } of requested) {
    assert.equal(header('cookie'), 'session=1')
    for (const name of notPassedOn) assert.equal(header(name), undefined, name)
  }

  assert.match(await open({}), /<i id="boot">null<\/i>/, 'without a session the page asks by itself')

  writeFileSync(path.join(folder, 'index.html'), 'built anew')
  utimesSync(path.join(folder, 'index.html'), 1, 1)
  assert.equal(await open({}), 'built anew')
})

/** Creates a built page, and an API with one company and one session. */
function arrange(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'service-web-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(path.join(folder, 'index.html'), '{{page}}<i id="boot">"{{boot}}"</i>')
  writeFileSync(
    path.join(folder, 'manifest.json'),
    JSON.stringify({ pages: { issues: ['/assets/issues-A.js'], 'issues/:issueRef': ['/assets/issue-A.js'] } }),
  )
  const requested: HttpRequest[] = []
  const json = (status: number, body: unknown): HttpResponse => ({ status, headers: {}, body: JSON.stringify(body) })
  const api = (request: HttpRequest) => {
    requested.push(request)
    if (request.header('cookie') !== 'session=1') return json(401, {})
    if (request.path === '/api/companies') return json(200, [{ id: 'c1', issuePrefix: 'TER' }])
    if (request.path === '/api/auth/session') return json(200, { name: 'A </script> person' })
    return json(200, [{ at: request.path }])
  }
  return { folder, asked: requested, fetch: fetchFrom(withPage({ events: createEvents(new Date(5)) }, folder, api)) }
}
