import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wants } from '../../../src/access/webhook/event-patterns.ts'
import { MAX_WEBHOOKS } from '../../../src/access/webhook/webhook.ts'
import { createTestApp } from '../../helpers.ts'
import { arrangeCompany } from '../../make.ts'

async function arrange(t: Parameters<typeof createTestApp>[0]) {
  const app = createTestApp(t, { webhookHosts: ['ci.internal:8080'] })
  const people = await arrangeCompany(app)
  return { ...app, ...people, app, at: `/api/companies/${people.company.id}/webhooks` }
}

const URL = 'https://ci.example.com/hooks/T0/XYZ'

test('creates, updates and deletes a webhook, and returns its secret only on creation', async (t) => {
  const { request, make, at, company, app } = await arrange(t)
  const { secret, ...created } = await make('POST', at, { url: URL, events: ['issue.*'], description: 'CI' })
  assert.match(secret, /^whsec_[\w+/]{32}$/)
  assert.deepEqual((await request('GET', at)).body, [created])
  const one = `/api/webhooks/${created.id}`
  const rotated = await make('POST', `${one}/rotate-secret`)
  assert.notEqual(rotated.secret, secret)
  const responses = [
    await request('PATCH', one, { events: ['*'], description: null }),
    await request('GET', one),
    await request('POST', `${one}/test`),
    await request('GET', `${one}/deliveries`),
    await request('PATCH', one, { status: 'disabled' }),
    await request('DELETE', one),
    await request('GET', `/api/companies/${company.id}/activity`),
  ]
  assert.deepEqual(
    responses.map(({ status }) => status),
    [200, 200, 202, 200, 200, 200, 200],
  )
  assert.deepEqual([responses[4]!.body.status, responses[4]!.body.disabledWhy], ['disabled', 'board'])
  const actions = responses.at(-1)!.body.map((row: { action: string }) => row.action)
  assert.deepEqual(actions.slice(0, 7), [
    'webhook.deleted',
    'webhook.disabled',
    'webhook.updated',
    'webhook.tested',
    'webhook.updated',
    'webhook.secret_rotated',
    'webhook.created',
  ])
  const displayed = JSON.stringify([responses, app.logged])
  for (const value of [secret, rotated.secret]) assert.ok(!displayed.includes(value))
  // The path of a URL is often a credential, so the activity contains only the host.
  assert.ok(!JSON.stringify(responses.at(-1)!.body).includes('XYZ'))
  assert.equal((await request('GET', one)).status, 404)
})

test('refuses a webhook URL on this machine or a private network without the webhookHosts setting', async (t) => {
  const { request, at } = await arrange(t)
  const refused = [
    'http://ci.example.com/',
    'https://127.0.0.1/',
    'https://localhost/',
    'https://a.localhost/',
    'https://10.1.2.3/',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://0x7f.1/',
    'http://ci.internal/',
    'http://ci.internal:8081/',
  ]
  for (const url of refused) assert.equal((await request('POST', at, { url })).status, 422, url)
  for (const url of ['ftp://ci.example.com/', 'https://u:p@ci.example.com/', 'https://ci.example.com/#x', 'here']) {
    assert.equal((await request('POST', at, { url })).status, 400, url)
  }
  assert.equal((await request('POST', at, { url: 'http://ci.internal:8080/hook?a=b' })).status, 201)
  const { id } = (await request('POST', at, { url: URL })).body
  assert.equal((await request('PATCH', `/api/webhooks/${id}`, { url: 'https://10.0.0.1/' })).status, 422)
})

test('refuses an event that does not exist, and names the nearest one that does', async (t) => {
  const { request, make, at } = await arrange(t)
  for (const [event, meant] of [
    ['issue.creatd', 'issue.created'],
    ['isue.*', 'issue.*'],
    ['run.finish', 'run.finished'],
  ] as const) {
    const { status, body } = await request('POST', at, { url: URL, events: ['approval.*', event] })
    assert.equal(status, 400)
    assert.equal(body.error, `Invalid request: events.1: there is no event ${event}. Did you mean ${meant}?`)
  }
  const { id } = await make('POST', at, { url: URL, events: ['run.finished', 'agent.*'] })
  for (const event of ['nope.foo', 'issue', 'issue.', 'webhook.test', '', 'x'.repeat(100_000)]) {
    assert.equal((await request('PATCH', `/api/webhooks/${id}`, { events: [event] })).status, 400, event.slice(0, 20))
  }
})

test('limits the webhooks of a company, and sends no test event to a disabled webhook', async (t) => {
  const { request, make, at } = await arrange(t)
  for (let i = 0; i < MAX_WEBHOOKS; i++) await make('POST', at, { url: URL })
  assert.equal((await request('POST', at, { url: URL })).status, 409)
  const [first] = (await request('GET', at)).body
  await make('PATCH', `/api/webhooks/${first.id}`, { status: 'disabled' })
  assert.equal((await request('POST', `/api/webhooks/${first.id}/test`)).status, 409)
  assert.equal((await request('PATCH', `/api/webhooks/${first.id}`, { events: ['issue created'] })).status, 400)
})

test('a pattern matches one action, all actions of a noun, or every action', () => {
  assert.ok(wants(['issue.created'], 'issue.created'))
  assert.ok(wants(['agent.*', 'issue.*'], 'issue.created'))
  assert.ok(wants(['*'], 'issue.created'))
  assert.ok(!wants(['issue.*', 'issue.created'], 'issues.created'))
})
