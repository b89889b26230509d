import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { withPage } from '../../../src/clients/web/serve.ts'
import { createEvents } from '../../../src/platform/events.ts'

test('the page is served at its own paths, its assets are cached forever, and the API serves all other paths', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'service-web-'))
  t.after(() => rmSync(folder, { recursive: true }))
  mkdirSync(path.join(folder, 'assets'))
  writeFileSync(path.join(folder, 'index.html'), '<meta name="event-id" content="{{eventId}}">')
  for (const suffix of ['', '.br', '.gz'])
    writeFileSync(path.join(folder, `assets/main-ABC.js${suffix}`), `js${suffix}`)
  const events = createEvents(new Date(5))
  const fetch = withPage({ events }, folder, () => new Response('API', { status: 418 }))
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
  const open = async (headers: Record<string, string>) =>
    (await fetch(new Request('http://localhost/TER/issues/TER-6', { headers }), undefined)).text()

  const html = await open({ cookie: 'session=1', 'x-other': '1' })
  const record = JSON.parse(/<i id="boot">(.*)<\/i>/.exec(html)![1]!)
  assert.equal(record.session.name, 'A </script> person')
  assert.equal(record.company.id, 'c1')
  assert.deepEqual(record.company.agents, [{ at: '/api/companies/c1/agents' }])
  assert.ok(!html.includes('</script>'), 'a text must not end the script element')
  assert.match(html, /<link rel="modulepreload" href="\/assets\/issue-A\.js">/)
  assert.deepEqual(
    requested.map(({ headers }) => [...headers.keys()]),
    requested.map(() => ['cookie']),
  )

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
  const requested: Request[] = []
  const api = (request: Request) => {
    requested.push(request)
    const { pathname } = new URL(request.url)
    if (request.headers.get('cookie') !== 'session=1') return new Response('{}', { status: 401 })
    if (pathname === '/api/companies') return Response.json([{ id: 'c1', issuePrefix: 'TER' }])
    if (pathname === '/api/auth/session') return Response.json({ name: 'A </script> person' })
    return Response.json([{ at: pathname }])
  }
  return { folder, asked: requested, fetch: withPage({ events: createEvents(new Date(5)) }, folder, api) }
}
