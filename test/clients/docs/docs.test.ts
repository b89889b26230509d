import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import * as v from 'valibot'
import { anyone } from '../../../src/access/caller/who.ts'
import { route } from '../../../src/access/route.ts'
import { endpointBody } from '../../../src/clients/docs/endpoint-page.ts'
import { curlOf, shellText } from '../../../src/clients/docs/example.ts'
import { listGuides } from '../../../src/clients/docs/guides.ts'
import { DOCUMENTED_ENDPOINTS } from '../../../src/clients/routes.ts'
import { type Access, operationOf } from '../../../src/http/operation.ts'
import { sampleOf } from '../../../src/http/sample.ts'
import { collectSchemas } from '../../../src/http/schemas.ts'
import { PAUSE_REASONS, SHOWN_STATUSES } from '../../../src/organization/agent/lifecycle.ts'
import { ERROR_STATUS } from '../../../src/platform/errors.ts'
import { packageRoot } from '../../../src/platform/package-root.ts'
import { APPROVAL_TYPES } from '../../../src/work/approval/approval.ts'
import { APPROVAL_STATUSES } from '../../../src/work/approval/lifecycle.ts'
import { GOAL_LEVELS, GOAL_STATUSES } from '../../../src/work/goal/goal.ts'
import { PRIORITIES } from '../../../src/work/issue/issue.ts'
import { PROJECT_STATUSES } from '../../../src/work/project/project.ts'
import { createTestApp } from '../../helpers.ts'

const folder = path.join(packageRoot(), 'docs')
const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /\/[^/]+\.md$/.test(file))
const read = (page: string) => readFileSync(path.join(folder, page), 'utf8')

test('the table of errors contains each code with its status', () => {
  const rows = [...read('reference/errors.md').matchAll(/^\| `(\w+)` \| (\d{3}) \| \S.* \|$/gm)]
  assert.deepEqual(Object.fromEntries(rows.map(([, code, status]) => [code, Number(status)])), { ...ERROR_STATUS })
})

test('the decisions page names every enum value', () => {
  const text = read('decisions/decisions.md')
  const agents = [...SHOWN_STATUSES, ...PAUSE_REASONS]
  const approvals = [...APPROVAL_TYPES, ...APPROVAL_STATUSES]
  for (const value of [...agents, ...approvals, ...GOAL_LEVELS, ...GOAL_STATUSES, ...PRIORITIES, ...PROJECT_STATUSES]) {
    assert.ok(text.includes(`\`${value}\``), value)
  }
})

test('each page has a unique title and name, and is listed in the index', () => {
  const index = read('README.md')
  for (const page of pages) {
    assert.match(read(page), /^# \S/, page)
    assert.ok(index.includes(`](${page})`), `docs/README.md lists ${page}`)
  }
  assert.equal(new Set(pages.map((page) => path.basename(page))).size, pages.length)
})

test('no link to a file or a heading is broken', () => {
  const root = packageRoot()
  const files = [
    'README.md',
    'CONTRIBUTING.md',
    'ARCHITECTURE.md',
    'docs/README.md',
    ...pages.map((page) => `docs/${page}`),
  ]
  for (const file of files.filter((one) => existsSync(path.join(root, one)))) {
    const text = readFileSync(path.join(root, file), 'utf8')
    for (const [, target = '', heading] of text.matchAll(/\]\(([^)#\s]*)(?:#([^)]+))?\)/g)) {
      if (/^[a-z]+:/.test(target)) continue
      const linked = target === '' ? path.join(root, file) : path.resolve(root, path.dirname(file), target)
      assert.ok(existsSync(linked), `${file} links to ${target}`)
      if (heading === undefined) continue
      const headings = [...readFileSync(linked, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
        title!
          .replaceAll(/[^\w\s-]/g, '')
          .toLowerCase()
          .replaceAll(/\s+/g, '-'),
      )
      assert.ok(headings.includes(heading), `${file} links to ${target}#${heading}`)
    }
  }
})

test('each source file that the documentation names exists', () => {
  const root = packageRoot()
  const sources = ['src', 'test', 'bin', 'tools', 'bench'].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => `/${folder}/${file}`),
  )
  for (const page of ['ARCHITECTURE.md', 'CONTRIBUTING.md', ...pages.map((name) => `docs/${name}`)]) {
    const text = readFileSync(path.join(root, page), 'utf8')
    // A path such as `work/issue/checkout.ts`, without placeholders (`<noun>.ts`) and patterns (`*.ci.test.ts`).
    for (const [, name] of text.matchAll(/`([\w./-]+\.(?:ts|mjs))`/g)) {
      const isThere = sources.some((file) => file.endsWith(`/${name}`)) || existsSync(path.join(root, name!))
      assert.ok(isThere, `${page} names ${name}`)
    }
  }
})

test('each page is served, with links to the other pages in the order of the index', async (t) => {
  const { request } = createTestApp(t)
  const overview = (await request('GET', '/api/docs')).body as string
  const listed = [...read('README.md').matchAll(/\]\([\w-]+\/([\w-]+)\.md\)/g)].map(([, name]) => name)
  const { body: displayed } = await request('GET', '/api/docs/errors')
  const contents = displayed.slice(displayed.indexOf('<nav id="contents"'))
  const linked = [...contents.matchAll(/href="\/api\/docs\/([\w-]+)"/g)].map(([, name]) => name)
  assert.deepEqual(linked, listed)
  for (const page of pages) {
    const name = path.basename(page, '.md')
    assert.ok(overview.includes(`href="/api/docs/${name}"`), name)
    const { status, headers, body } = await request('GET', `/api/docs/${name}`)
    assert.equal(status, 200)
    assert.match(headers.get('content-type') ?? '', /^text\/html/)
    assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/)
    assert.match(body, /<h1>\S/)
    assert.ok(body.includes(`href="/api/docs/${name}" aria-current="page"`), name)
    assert.doesNotMatch(body, /href="(?!https?:)[^"]*\.md/)
  }
  assert.match((await request('GET', '/api/docs/api-basics')).body, /<a href="\/api\/docs\/errors">errors<\/a>/)
})

test('a search finds pages and endpoints that contain all words', async (t) => {
  const { request } = createTestApp(t)
  const search = async (words: string) => {
    const { status, body } = await request('GET', `/api/docs?q=${encodeURIComponent(words)}`)
    assert.equal(status, 200)
    return body.slice(0, body.indexOf('<nav id="contents"')) as string
  }
  assert.match(await search('summer TIME'), /href="\/api\/docs\/routines"/)
  assert.match(await search('checkout'), /href="\/api\/docs\/endpoints\/issues.checkout"/)
  assert.match(await search('/api/issues/:issueId/checkout'), /href="\/api\/docs\/endpoints\/issues.checkout"/)
  assert.match(await search('walrus <b>'), /No page and no endpoint contains all of these words: walrus, &lt;b&gt;/)
  assert.match((await search('routines')).replaceAll('\n', ''), /<dl><div><dt><a href="\/api\/docs\/routines"/)
  assert.equal((await request('GET', `/api/docs?q=${'x'.repeat(201)}`)).status, 400)
})

test('an unknown page returns 404, also for names that contain paths', async (t) => {
  const { request } = createTestApp(t)
  for (const name of ['nothing', '..%2FREADME', 'errors.md', '%2e%2e', '__proto__']) {
    assert.equal((await request('GET', `/api/docs/${name}`)).status, 404, name)
  }
})

test('each noun and each endpoint has a page, and each guide begins with a sentence', async (t) => {
  const { request } = createTestApp(t)
  const { body } = await request('GET', '/api/docs')
  const nouns = new Map<string, string>()
  for (const { id, path } of DOCUMENTED_ENDPOINTS) {
    const noun = id.split('.')[0]!
    assert.ok(body.includes(`href="/api/docs/endpoints/${noun}"`), noun)
    if (!nouns.has(noun)) nouns.set(noun, (await request('GET', `/api/docs/endpoints/${noun}`)).body)
    assert.ok(nouns.get(noun)!.includes(`<code>${path}</code>`), path)
    assert.ok(nouns.get(noun)!.includes(`href="/api/docs/endpoints/${id}"`), id)
    const page = await request('GET', `/api/docs/endpoints/${id}`)
    assert.equal(page.status, 200, id)
    assert.ok(page.body.includes(`<code>${path}</code>`), id)
  }
  for (const { name, summary } of await listGuides()) assert.match(summary, /^[A-Z`].{20,}\.$/, name)
  assert.ok(!body.includes('/login'))
  assert.equal((await request('GET', '/api/docs/endpoints/pages.login')).status, 404)
})

test('the page of an endpoint contains all fields of its body, including nested fields, and its responses', async (t) => {
  const { request } = createTestApp(t)
  const { body } = await request('GET', '/api/docs/endpoints/agents.create')
  assert.match(body, /<dt><code>name<\/code> <strong>required<\/strong><\/dt>/)
  assert.match(body, /<code>runtimeConfig.heartbeat.intervalSec<\/code><\/dt>\n<dd><p class="type">integer from 1/)
  assert.match(body, /default &quot;engineer&quot;/)
  assert.match(body, /<h3>201 Created<\/h3>/)
  assert.match(
    (await request('GET', '/api/docs/endpoints/issues.list')).body,
    /<code>labels\[\]|<code>labels\.|<code>X-Total-Count/,
  )
})

test('a page contains no script, declares its language and title, and skips no heading level', async (t) => {
  const { request } = createTestApp(t)
  for (const page of ['', '/endpoints/issues.checkout', '/endpoints/session.signIn', '/decisions']) {
    const { body, headers } = await request('GET', `/api/docs${page}`)
    assert.doesNotMatch(body, /<script|style="| on\w+="/)
    const csp = headers.get('content-security-policy') ?? ''
    assert.match(csp, /^default-src 'none'; style-src 'sha256-/)
    assert.match(body, /<html lang="en">[\s\S]*<title>\S[^<]* – service<\/title>/)
    const ranks = [...body.matchAll(/<h(\d)/g)].map(([, rank]) => Number(rank))
    assert.equal(ranks.filter((rank) => rank === 1).length, 1, page)
    for (const [i, rank] of ranks.entries()) assert.ok(rank <= (ranks[i - 1] ?? 0) + 1, `${page}: ${ranks}`)
  }
})

const PLACE: Access = { mode: 'local_trusted', requireToken: false, trustProxy: false }
const SCHEMAS = collectSchemas(DOCUMENTED_ENDPOINTS)

test('the endpoint accepts its sample body', () => {
  for (const endpoint of DOCUMENTED_ENDPOINTS.filter(({ body, upload }) => body && !upload)) {
    const [content] = Object.values(operationOf(endpoint, SCHEMAS, PLACE).requestBody!.content)
    const sample = JSON.stringify(
      sampleOf(content!.schema, { components: SCHEMAS.components, text: shellText }),
    ).replaceAll(/\$[A-Z_]+/g, randomUUID())
    const { issues } = v.safeParse(endpoint.body!, JSON.parse(sample))
    assert.equal(issues, undefined, `${endpoint.id}: ${sample}`)
  }
})

test('the example contains the credential that the mode requires', () => {
  const curl = (id: string, access: Partial<Access> = {}) => {
    const endpoint = DOCUMENTED_ENDPOINTS.find((one) => one.id === id)!
    return curlOf(
      endpoint,
      operationOf(endpoint, SCHEMAS, { ...PLACE, ...access }),
      SCHEMAS.components,
      'http://localhost:3100',
    )
  }
  assert.equal(
    curl('issues.checkout'),
    `curl -sS -X POST "http://localhost:3100/api/issues/$ISSUE_ID/checkout" \\
  -H "Content-Type: application/json" \\
  -d '{"agentId":"'"$AGENT_ID"'"}'`,
  )
  assert.match(curl('issues.checkout', { mode: 'authenticated' }), /Authorization: Bearer \$SERVICE_API_KEY/)
  assert.match(curl('agents.inbox'), /Authorization: Bearer/)
  assert.match(curl('tokens.create', { mode: 'authenticated' }), /-b cookies.txt/)
  assert.match(curl('events.watch'), /^curl -sSN "/)
  assert.match(curl('companies.uploadLogo'), /-F "file=@picture.png"$/)
  assert.match(curl('companies.search'), /search\?q=walrus"$/)
})

test('text from a schema is escaped as HTML', () => {
  const odd = route({
    id: 'odd.get',
    method: 'POST',
    path: '/api/odd',
    summary: 'Be odd',
    description: '<b>`<i>`</b>',
    who: [anyone],
    body: v.strictObject({ '<u>': v.pipe(v.optional(v.string(), '<s>'), v.description('<em>')) }),
    responses: { 200: v.string() },
    run: () => '',
  })
  const text = String(endpointBody(odd, PLACE, 'http://<host>'))
  assert.doesNotMatch(text, /<(b|i|u|s|em|host)>/)
  for (const name of ['b', 'i', 'u', 's', 'em', 'host']) assert.ok(text.includes(`&lt;${name}&gt;`), name)
})
