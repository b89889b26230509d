import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FIRST_REQUESTS } from '../../../src/clients/web/first-requests.ts'
import { NO_CHROMIUM } from '../../browser/chromium.ts'
import { openPage } from './page.ts'

/** The text that each page displays after it has its first data. */
const SHOWN: Record<string, string> = {
  issues: '.issue-row',
  'issues/:issueRef': '.composer',
  runs: '.runs-row',
  'runs/:runId': '.run-facts',
  org: '[role=treeitem]',
  routines: '.page-body > *',
  skills: '.page-body > *',
}

test('a page displays its first view without requests', { skip: NO_CHROMIUM }, async (t) => {
  const { url, open, faults } = await openPage(t)
  // biome-ignore lint/suspicious/noExplicitAny: a few fields of a few responses are read.
  const call = async (method: string, path: string, body?: unknown): Promise<any> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    assert.ok(response.ok, `${method} ${path}: ${response.status}`)
    return response.json()
  }
  const company = await call('POST', '/api/companies', { name: 'Tern' })
  const at = `/api/companies/${company.id}`
  const agent = await call('POST', `${at}/agents`, {
    name: 'Kit',
    adapterType: 'process',
    adapterConfig: { command: process.execPath, args: ['-e', ''] },
  })
  await call('POST', `${at}/issues`, { title: 'Draw the curve' })
  await call('POST', `/api/agents/${agent.id}/heartbeat/invoke`)
  const page = await open()
  await page.goto(`${url}/TER/runs`)
  await page.locator('.runs-row .run-succeeded').waitFor()
  const [{ id: runId }] = await call('GET', `${at}/runs`)
  const names: Record<string, string> = { issueRef: 'TER-1', runId }
  const requested: string[] = []
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (pathname.startsWith('/api/') && !/\/(events|log\/stream)$/.test(pathname)) requested.push(pathname + search)
  })

  assert.deepEqual(Object.keys(SHOWN), Object.keys(FIRST_REQUESTS))
  for (const [address, selector] of Object.entries(SHOWN)) {
    await page.goto('about:blank')
    requested.length = 0
    await page.goto(`${url}/TER/${address.replace(/:(\w+)/, (_, name: string) => names[name]!)}`)
    await page.locator(selector).first().waitFor({ state: 'attached' })
    assert.deepEqual(requested, [], address)
  }
  assert.deepEqual(faults, [])
})
