import assert from 'node:assert/strict'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { test } from 'node:test'
import { createApp } from '../../../src/app.ts'
import { createRateCounter, networkOf } from '../../../src/http/rate-limit.ts'
import { sameOriginPath } from '../../../src/http/same-origin-path.ts'
import { createPeopleApp, PASSWORD, type PeopleApp } from './people.ts'

/** Signs in from a client address that the proxy forwards. */
const signInFrom = (app: PeopleApp, address: string, email: string, password: string) =>
  app.request('POST', '/api/auth/sign-in', { email, password }, { 'x-forwarded-for': address })

test('password attempts from many addresses do not lock out the account owner', async (t) => {
  const app = createPeopleApp(t, { trustProxy: true })
  const { email } = await app.person('Ada')
  const { rates } = app.ctx.signIn
  for (let i = 0; i < 120; i++) rates.take('sign-in of an account', email, Date.parse(app.ctx.now))
  const statuses = []
  for (let i = 0; i < 5; i++) statuses.push((await signInFrom(app, '198.51.100.7', email, 'wrong')).status)
  assert.deepEqual(statuses, [401, 401, 401, 429, 429])
  assert.equal((await signInFrom(app, '198.51.100.8', email, PASSWORD)).status, 200)
})

test('all addresses of one IPv6 network share one rate limit', async (t) => {
  const app = createPeopleApp(t, { trustProxy: true })
  const { email } = await app.person('Ada')
  for (let i = 0; i < 10; i++) {
    assert.equal((await signInFrom(app, `2001:db8:1:2::${i}`, email, 'wrong')).status, 401)
  }
  assert.equal((await signInFrom(app, '2001:db8:1:2:ffff::1', email, PASSWORD)).status, 429)
  assert.equal((await signInFrom(app, '2001:db8:1:3::1', email, PASSWORD)).status, 200)
})

const NETWORKS: [string, string][] = [
  ['192.0.2.1', '192.0.2.1'],
  ['192.0.2.1:5000', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
  ['[2001:db8:1:2::1]:443', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['unknown', 'unknown'],
]
for (const [address, network] of NETWORKS) {
  test(`the network of ${address} is ${network}`, () => assert.equal(networkOf(address), network))
}

test('attempts with random names evict no counter of another limit or of an attacked account', () => {
  const rates = createRateCounter(100)
  for (let i = 0; i < 10; i++) assert.equal(rates.take('sign-in', 'ada', 0), 0)
  for (let i = 0; i < 50; i++) assert.equal(rates.take('sign-in of an address', '192.0.2.1', 0), 0)
  for (let i = 0; i < 1_000; i++) rates.take('sign-in', `made-up ${i}`, 1)
  assert.ok(rates.take('sign-in', 'ada', 2) > 0)
  assert.ok(rates.take('sign-in of an address', '192.0.2.1', 2) > 0)
})

test('the rate limit of an address applies before the server reads the body', async (t) => {
  const app = createPeopleApp(t)
  const broken = () => app.request('POST', '/api/auth/sign-in', '{')
  for (let i = 0; i < 50; i++) assert.equal((await broken()).status, 400)
  assert.equal((await broken()).status, 429)
})

test('concurrent sign-ins do not block the main thread, and are 429 when the queue is full', async (t) => {
  const app = createPeopleApp(t, { trustProxy: true })
  const { email } = await app.person('Ada')
  const api = createApp(app.ctx, app.ctx.tokens)
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  const signIn = (i: number) =>
    api.request('/api/auth/sign-in', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': `192.0.2.${i}` },
      body: JSON.stringify({ email: `${i}${email}`, password: 'a wrong password' }),
    })
  const statuses = (await Promise.all(Array.from({ length: 49 }, (_, i) => signIn(i)))).map(({ status }) => status)
  delay.disable()
  assert.deepEqual([...new Set(statuses)].sort(), [401, 429])
  assert.ok(statuses.filter((status) => status === 401).length >= 32)
  assert.ok(delay.max / 1e6 < 1_000, `the main thread was held for ${delay.max / 1e6} ms`)
  assert.equal((await signInFrom(app, '198.51.100.1', email, PASSWORD)).status, 200)
})

test('a sign-in redirects to this server for any value of `next`', async (t) => {
  const app = createPeopleApp(t)
  const { email } = await app.person('Ada')
  const response = await app.submit('/login', { email, password: PASSWORD, next: '/.//evil.test/p' })
  assert.equal(response.status, 303)
  assert.equal(response.headers.get('location'), '/')
})

for (const next of [
  '/.//evil.test/p',
  '//evil.test',
  '/\\evil.test',
  '/%2e//evil.test',
  '/a/..//evil.test',
  '/\t/evil.test',
  'https://evil.test',
  'http:evil.test',
  '/./\\evil.test',
]) {
  test(`the redirect path for ${JSON.stringify(next)} is on this server`, () => {
    const path = sameOriginPath(next)
    assert.equal(new URL(path, 'http://here.test').origin, 'http://here.test', path)
  })
}

test('the redirect path keeps its path and query', () => {
  assert.equal(sameOriginPath('/issues?status=todo'), '/issues?status=todo')
})
