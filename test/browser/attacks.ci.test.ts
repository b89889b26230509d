import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { sql } from '../../src/platform/database/sql.ts'
import { PASSWORD } from '../access/auth/people.ts'
import { startTestServer, type TestServer } from '../server.ts'
import { launchChromium, NO_CHROMIUM } from './chromium.ts'

/** The site of an attacker: one empty page for every host name, on a separate port. */
async function startEvilSite(t: TestContext): Promise<number> {
  const site = createServer((_, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>evil</title><body>')
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  t.after(() => site.close())
  return (site.address() as AddressInfo).port
}

/**
 * The attacks, which run in the page. Each one ends when the browser has
 * received a response or refused the request. `url` is the attacked server.
 */
const ATTACKS: Record<string, (url: string) => unknown> = {
  'a form': (url) => submit({ url: `${url}/api/companies`, enctype: 'application/x-www-form-urlencoded' }),
  'a form that looks like JSON': (url) => submit({ url: `${url}/api/companies`, enctype: 'text/plain' }),
  'an upload form': (url) => submit({ url: `${url}/api/companies`, enctype: 'multipart/form-data' }),
  'a form for the sign-in': (url) => submit({ url: `${url}/login`, enctype: 'application/x-www-form-urlencoded' }),
  'a form for the sign-out': (url) => submit({ url: `${url}/logout`, enctype: 'application/x-www-form-urlencoded' }),
  'a no-cors POST': (url) =>
    fetch(`${url}/api/companies`, { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{"name":"evil"}' }),
  'a no-cors GET': (url) => fetch(`${url}/api/companies`, { mode: 'no-cors', credentials: 'include' }),
  'a POST with a preflight': (url) =>
    fetch(`${url}/api/companies`, {
      method: 'POST',
      credentials: 'include',
      headers: { 'content-type': 'application/json' },
      body: '{"name":"evil"}',
    }),
  'a beacon': (url) => beacon(`${url}/api/companies`),
  'an image': (url) => load('img', `${url}/api/companies`),
  'a script': (url) => load('script', `${url}/api/companies`),
  'a frame': (url) => load('iframe', `${url}/login`),
  'an event stream': (url) =>
    new Promise((resolve) => {
      const source = new EventSource(`${url}/api/companies/x/events`, { withCredentials: true })
      source.onerror = source.onopen = resolve
    }),
  'a WebSocket': (url) =>
    new Promise((resolve) => {
      const socket = new WebSocket(url.replace('http', 'ws'))
      socket.onerror = socket.onopen = resolve
    }),
  'a navigation into the API': (url) => load('iframe', `${url}/api/companies`),
}

/** Helpers of the attacks, which are also added to the page. */
declare function submit(form: { url: string; enctype: string }): Promise<unknown>
declare function beacon(url: string): unknown
declare function load(tag: string, url: string): Promise<unknown>
const HELPERS = `
  const submit = ({ url, enctype }) => new Promise((resolve) => {
    const frame = Object.assign(document.createElement('iframe'), { name: 'f' + Math.random() })
    document.body.append(frame)
    const form = Object.assign(document.createElement('form'), { action: url, method: 'post', enctype, target: frame.name })
    form.append(Object.assign(document.createElement('input'), { name: '{"name":"evil","x":"', value: '"}' }))
    document.body.append(form)
    frame.onload = resolve
    form.submit()
  })
  const beacon = (url) => navigator.sendBeacon(url, '{"name":"evil"}')
  const load = (tag, url) => new Promise((resolve) => {
    const element = Object.assign(document.createElement(tag), { src: url, onload: resolve, onerror: resolve })
    document.body.append(element)
  })`

/** Runs every attack from a page. @returns the statuses of the responses of the attacked server, by attack */
async function attack(page: Page, from: string, url: string): Promise<Record<string, number[]>> {
  const responses: Record<string, number[]> = {}
  for (const [name, attempt] of Object.entries(ATTACKS)) {
    await page.goto(from)
    const seen: number[] = []
    const note = (response: { url(): string; status(): number }) => {
      if (response.url().startsWith(url)) seen.push(response.status())
    }
    page.on('response', note)
    await page.evaluate(`{${HELPERS}; Promise.resolve((${attempt})(${JSON.stringify(url)})).catch(() => {})}`)
    page.off('response', note)
    responses[name] = seen
  }
  return responses
}

const countCompanies = ({ server }: TestServer) => server.ctx.db.all(sql.selectFrom('company').select('id')).length

/** Opens the setup link and creates the first owner, as a person does. */
async function setUp(page: Page, { server }: TestServer, url: string): Promise<void> {
  await page.goto(`${url}/setup?token=${server.ctx.signIn.setup!.token}`)
  await page.getByLabel('Your name').fill('Olga')
  await page.getByLabel('E-mail').fill('olga@example.com')
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Create the account' }).click()
  await page.waitForURL(`${url}/`)
}

for (const mode of ['local_trusted', 'authenticated'] as const) {
  test(`in ${mode} mode no request from another page reaches a handler`, { skip: NO_CHROMIUM }, async (t) => {
    const attacked = await startTestServer(t, { mode })
    const evilPort = await startEvilSite(t)
    const browser = await launchChromium(t)
    const page = await browser.newPage()
    const { port } = attacked
    const url = `http://localhost:${port}`
    if (mode === 'authenticated') await setUp(page, attacked, url)
    const sessions = () => attacked.server.ctx.db.all(sql.selectFrom('auth_session').select('id')).length
    const before = [countCompanies(attacked), sessions()]
    const places = {
      'another site': `http://evil.example:${evilPort}/`,
      'another port of this machine': `http://localhost:${evilPort}/`,
    }
    for (const [place, from] of Object.entries(places)) {
      const responses = await attack(page, from, url)
      const answered = Object.values(responses).flat()
      assert.ok(answered.length >= 6, `${place}: the attacks reach the gate: ${JSON.stringify(responses)}`)
      for (const [name, statuses] of Object.entries(responses)) {
        for (const status of statuses) assert.equal(status, 403, `${name} from ${place}`)
      }
    }
    assert.deepEqual([countCompanies(attacked), sessions()], before)
  })

  test(`in ${mode} mode a name that is rebound to this machine is refused`, { skip: NO_CHROMIUM }, async (t) => {
    const attacked = await startTestServer(t, { mode })
    const page = await (await launchChromium(t)).newPage()
    const url = `http://rebound.example:${attacked.port}`
    for (const path of ['/', '/login', '/api/health', '/api/companies']) {
      assert.equal((await page.goto(`${url}${path}`))?.status(), 403, path)
    }
    const responses = await attack(page, `${url}/`, url)
    for (const [name, statuses] of Object.entries(responses)) {
      for (const status of statuses) assert.equal(status, 403, name)
    }
    assert.equal(countCompanies(attacked), 0)
  })
}

test('a person can set up the server, sign out and sign in with only the keyboard and without scripts', {
  skip: NO_CHROMIUM,
}, async (t) => {
  const attacked = await startTestServer(t, { mode: 'authenticated' })
  const browser = await launchChromium(t)
  const context = await browser.newContext({ javaScriptEnabled: false })
  const page = await context.newPage()
  const url = `http://localhost:${attacked.port}`
  const violations: string[] = []
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) violations.push(message.text())
  })
  await setUp(page, attacked, url)
  assert.equal((await page.goto(`${url}/api/auth/session`))?.status(), 200)
  await page.goto(`${url}/logout`)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${url}/login`)
  assert.equal((await page.goto(`${url}/api/auth/session`))?.status(), 401)
  await page.goto(`${url}/login`)
  await page.keyboard.press('Tab')
  await page.keyboard.type('olga@example.com')
  await page.keyboard.press('Tab')
  await page.keyboard.type('wrong password')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('The e-mail address or the password is wrong.').waitFor()
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(`${url}/`)
  assert.equal((await page.goto(`${url}/api/auth/session`))?.status(), 200)
  assert.deepEqual(violations, [])
})

test('a link from another site opens pages, and no API endpoint', { skip: NO_CHROMIUM }, async (t) => {
  const attacked = await startTestServer(t, { mode: 'authenticated' })
  const evilPort = await startEvilSite(t)
  const page = await (await launchChromium(t)).newPage()
  const url = `http://localhost:${attacked.port}`
  for (const [path, expected] of [
    ['/login', 200],
    ['/api/health', 403],
    ['/api/docs', 403],
  ] as const) {
    await page.goto(`http://evil.example:${evilPort}/`)
    const answered = page.waitForResponse(`${url}${path}`)
    await page.evaluate(`location.href = ${JSON.stringify(`${url}${path}`)}`)
    assert.equal((await answered).status(), expected, path)
    await page.waitForURL(`${url}${path}`)
  }
})
