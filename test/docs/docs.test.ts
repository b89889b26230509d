import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { PAUSE_REASONS, SHOWN_STATUSES } from '../../src/agent/lifecycle.ts'
import { APPROVAL_TYPES } from '../../src/approval/approval.ts'
import { APPROVAL_STATUSES } from '../../src/approval/lifecycle.ts'
import { ERROR_STATUS } from '../../src/errors.ts'
import { GOAL_LEVELS, GOAL_STATUSES } from '../../src/goal/goal.ts'
import { PRIORITIES } from '../../src/issue/issue.ts'
import { packageRoot } from '../../src/package-root.ts'
import { PROJECT_STATUSES } from '../../src/project/project.ts'
import { createTestApp } from '../helpers.ts'

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
