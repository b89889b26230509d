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
const pages = readdirSync(folder).filter((file) => file.endsWith('.md'))
const read = (page: string) => readFileSync(path.join(folder, page), 'utf8')

test('the table of errors has each code, with its status', () => {
  const rows = [...read('errors.md').matchAll(/^\| `(\w+)` \| (\d{3}) \| \S.* \|$/gm)]
  assert.deepEqual(Object.fromEntries(rows.map(([, code, status]) => [code, Number(status)])), { ...ERROR_STATUS })
})

test('the decisions name each value that there is', () => {
  const text = read('decisions.md')
  const agents = [...SHOWN_STATUSES, ...PAUSE_REASONS]
  const approvals = [...APPROVAL_TYPES, ...APPROVAL_STATUSES]
  for (const value of [...agents, ...approvals, ...GOAL_LEVELS, ...GOAL_STATUSES, ...PRIORITIES, ...PROJECT_STATUSES]) {
    assert.ok(text.includes(`\`${value}\``), value)
  }
})

test('each page begins with its title, is linked from the README, and leads nowhere that is not there', () => {
  const readme = readFileSync(path.join(packageRoot(), 'README.md'), 'utf8')
  for (const page of pages) {
    assert.match(read(page), /^# \S/, page)
    assert.ok(readme.includes(`(docs/${page})`), `${page} is linked from the README`)
    for (const [, target = ''] of read(page).matchAll(/\]\(([^)#]+)[^)]*\)/g)) {
      if (!/^https?:/.test(target)) assert.ok(existsSync(path.join(folder, target)), `${page} leads to ${target}`)
    }
  }
})

test('each page is served as a page that lists lead to, with its links to other pages', async (t) => {
  const { ask } = createTestApp(t)
  const index = (await ask('GET', '/api/docs')).body
  for (const page of pages) {
    const name = page.slice(0, -'.md'.length)
    assert.ok(index.includes(`href="/api/docs/${name}"`), name)
    const { status, headers, body } = await ask('GET', `/api/docs/${name}`)
    assert.equal(status, 200)
    assert.match(headers.get('content-type') ?? '', /^text\/html/)
    assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/)
    assert.match(body, /<h1>\S/)
    assert.doesNotMatch(body, /href="[\w-]+\.md/)
  }
  assert.match((await ask('GET', '/api/docs/api-basics')).body, /<a href="errors">errors<\/a>/)
})

test('a page that is not there is 404, whatever its name leads to', async (t) => {
  const { ask } = createTestApp(t)
  for (const name of ['nothing', '..%2FREADME', 'errors.md', '%2e%2e', '__proto__']) {
    assert.equal((await ask('GET', `/api/docs/${name}`)).status, 404, name)
  }
})

test('the overview has each endpoint under its noun, each guide with a sentence, and a page for each endpoint', async (t) => {
  const { ask } = createTestApp(t)
  const { body } = await ask('GET', '/api/docs')
  for (const { id, path } of DOCUMENTED_ENDPOINTS) {
    assert.ok(body.includes(`<code>${path}</code>`), path)
    assert.ok(body.includes(`<h3 id="${id.split('.')[0]}">`), id)
    assert.ok(body.includes(`href="/api/docs/endpoints/${id}"`), id)
    const page = await ask('GET', `/api/docs/endpoints/${id}`)
    assert.equal(page.status, 200, id)
    assert.ok(page.body.includes(`<code>${path}</code>`), id)
  }
  for (const { name, summary } of await listGuides()) assert.match(summary, /^[A-Z`].{20,}\.$/, name)
  assert.ok(!body.includes('/login'))
  assert.equal((await ask('GET', '/api/docs/endpoints/pages.login')).status, 404)
})

test("the page of an endpoint has its body's fields, with those inside of them, and what it answers", async (t) => {
  const { ask } = createTestApp(t)
  const { body } = await ask('GET', '/api/docs/endpoints/agents.create')
  assert.match(body, /<dt><code>name<\/code> <strong>required<\/strong><\/dt>/)
  assert.match(body, /<code>runtimeConfig.heartbeat.intervalSec<\/code><\/dt>\n<dd><p class="type">integer from 1/)
  assert.match(body, /default &quot;engineer&quot;/)
  assert.match(body, /<h3>201 Created<\/h3>/)
  assert.match(
    (await ask('GET', '/api/docs/endpoints/issues.list')).body,
    /<code>labels\[\]|<code>labels\.|<code>X-Total-Count/,
  )
})

test('a page runs no script, says its language and title, and has one heading of each rank above the next', async (t) => {
  const { ask } = createTestApp(t)
  for (const page of ['', '/endpoints/issues.checkout', '/endpoints/session.signIn', '/decisions']) {
    const { body, headers } = await ask('GET', `/api/docs${page}`)
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

test('the sample of a body is one that the endpoint takes', () => {
  for (const endpoint of DOCUMENTED_ENDPOINTS.filter(({ body, upload }) => body && !upload)) {
    const [content] = Object.values(operationOf(endpoint, SCHEMAS, PLACE).requestBody!.content)
    const sample = JSON.stringify(
      sampleOf(content!.schema, { components: SCHEMAS.components, text: shellText }),
    ).replaceAll(/\$[A-Z_]+/g, randomUUID())
    const { issues } = v.safeParse(endpoint.body!, JSON.parse(sample))
    assert.equal(issues, undefined, `${endpoint.id}: ${sample}`)
  }
})

test('the example shows who is asking as the mode has it', () => {
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

test('what a schema says is shown, and is no HTML', () => {
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
