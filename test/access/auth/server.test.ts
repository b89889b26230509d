import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { type Config, readConfig } from '../../../src/platform/config.ts'
import { runService, spawnService, startService } from '../../clients/cli/service.ts'
import { temporaryFolder } from '../../helpers.ts'
import { startTestServer } from '../../server.ts'
import { cookieOf, PASSWORD } from './people.ts'

const form = (url: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', body: new URLSearchParams(fields), headers, redirect: 'manual' })

test('the first start prints a setup link for the first owner; the next start prints none', async (t) => {
  const dataDir = temporaryFolder(t)
  const args = ['--data-dir', dataDir, '--mode', 'authenticated']
  const first = await startService(t, args)
  const { link } = first as unknown as { link: string }
  assert.ok(link.startsWith(`${first.url}/setup?token=`), link)
  assert.equal((await fetch(`${first.url}/api/companies`)).status, 401)
  assert.equal((await fetch(link)).status, 200)
  const token = new URL(link).searchParams.get('token')!
  const made = await form(`${first.url}/setup`, { token, name: 'Olga', email: 'o@example.com', password: PASSWORD })
  assert.equal(made.status, 303)
  const cookie = cookieOf(made.headers.get('set-cookie'))
  const company = await fetch(`${first.url}/api/companies`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie },
    body: JSON.stringify({ name: 'Acme' }),
  })
  assert.equal(company.status, 201)
  first.child.kill('SIGTERM')
  assert.equal((await first.ended).err, '', 'nothing is logged, and so no secret')

  const second = await startService(t, args)
  assert.equal((second as unknown as { link?: string }).link, undefined)
  const session = await fetch(`${second.url}/api/auth/session`, { headers: { cookie } })
  assert.equal(session.status, 200, 'a session outlives the server')
  second.child.kill('SIGTERM')
  await second.ended

  const local = ['start', '--port', '0', '--data-dir', dataDir]
  const { code, err } = await runService(t, local)
  assert.equal(code, 2, 'the default mode would need no sign-in')
  assert.match(err, /has accounts of people\. Start with --mode authenticated/)

  const sessionValue = decodeURIComponent(cookie.slice(cookie.indexOf('=') + 1))
  for (const entry of readdirSync(dataDir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = path.join(entry.parentPath, entry.name)
    assert.equal(statSync(file).mode & 0o077, 0, `${file} is for its user alone`)
    const content = readFileSync(file, 'latin1')
    for (const secret of [PASSWORD, token, sessionValue]) assert.ok(!content.includes(secret), file)
  }
})

test('the banner shows the setup link and states that it works once', async (t) => {
  const args = ['start', '--port', '0', '--data-dir', temporaryFolder(t), '--require-token']
  const { child, ended } = spawnService(t, args)
  await once(child.stdout!, 'data')
  child.kill('SIGTERM')
  const { out } = await ended
  assert.match(out, /Next {2}open http:\/\/127\.0\.0\.1:\d+\/enter\?token=\S+ \(it works once\)/)
})

test('refuses settings that authorize everybody or nobody', async (t) => {
  const dataDir = temporaryFolder(t)
  const flags = { dataDir, mode: 'authenticated' }
  assert.throws(() => readConfig({ ...flags, host: '0.0.0.0' }, {}), /--allowed-host/)
  assert.throws(() => readConfig({ dataDir, trustProxy: true }, {}), /--trust-proxy requires --mode authenticated/)
  assert.throws(() => readConfig({ ...flags, requireToken: true }, {}), /--require-token requires local trusted mode/)
  assert.equal(readConfig({ ...flags, host: '0.0.0.0', allowedHost: ['board.example'] }, {}).host, '0.0.0.0')
  const { code, err } = await runService(t, ['start', '--demo', '--mode', 'authenticated', '--data-dir', dataDir])
  assert.equal(code, 2)
  assert.match(err, /--demo requires local trusted mode/)
})

test('cookies are Secure only behind a proxy, and X-Forwarded-* is trusted only there', async (t) => {
  for (const trustProxy of [true, false]) {
    const options: Partial<Config> = { mode: 'authenticated', trustProxy, allowedHosts: ['board.example'] }
    const { server } = await startTestServer(t, options)
    const token = server.ctx.signIn.setup!.token!
    const fields = { token, name: 'Olga', email: 'o@example.com', password: PASSWORD }
    const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '1.2.3.4, 203.0.113.9' }
    const made = await form(`${server.url}/setup`, fields, forwarded)
    const setCookie = made.headers.get('set-cookie')!
    assert.equal(/; Secure/.test(setCookie), trustProxy)
    const headers = { ...forwarded, cookie: cookieOf(setCookie), 'content-type': 'application/json' }
    const create = (path: string, body: object) =>
      fetch(`${server.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    const company = (await (await create('/api/companies', { name: 'Acme' })).json()) as { id: string }
    const invited = await create(`/api/companies/${company.id}/invitations`, {})
    const invitation = (await invited.json()) as { url: string }
    assert.equal(new URL(invitation.url).protocol, trustProxy ? 'https:' : 'http:')
  }
})

test('refuses a form that another site submits', async (t) => {
  const { server } = await startTestServer(t, { mode: 'authenticated' })
  const fields = { email: 'o@example.com', password: PASSWORD, next: '' }
  const refused: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
  ]
  for (const headers of refused) {
    const response = await form(`${server.url}/login`, fields, headers)
    assert.equal(response.status, 403, JSON.stringify(headers))
    assert.match(await response.text(), /gate_refused/)
  }
  assert.equal((await form(`${server.url}/login`, fields, { origin: server.url })).status, 401)
})
