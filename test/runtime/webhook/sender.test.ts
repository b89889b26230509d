import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { type AddressInfo, createServer as createSocketServer } from 'node:net'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { packageRoot } from '../../../src/platform/package-root.ts'
import { signatureHeaders } from '../../../src/runtime/webhook/send.ts'
import { BACKOFF_MS, createWebhookSender, FAILING_MS } from '../../../src/runtime/webhook/sender.ts'
import { createTestApp } from '../../helpers.ts'
import { arrangeCompany } from '../../make.ts'

interface Received {
  headers: IncomingHttpHeaders
  body: string
}

/** Creates a company with a webhook to a receiver on loopback. */
async function arrange(t: TestContext, { events = ['*'] }: { events?: string[] } = {}) {
  const received: Received[] = []
  const receiver = { status: 200, location: '' }
  const server = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) })
    response.writeHead(receiver.status, receiver.location ? { location: receiver.location } : {}).end('ok')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  t.after(() => server.close())
  const app = createTestApp(t, { webhookHosts: [host] })
  const { company } = await arrangeCompany(app)
  const at = `/api/companies/${company.id}`
  const webhook = await app.make('POST', `${at}/webhooks`, { url: `http://${host}/hook`, events })
  const sender = createWebhookSender(app.ctx)
  app.onClose(() => sender.close())
  const one = `/api/webhooks/${webhook.id}`
  const deliveries = async () => (await app.request('GET', `${one}/deliveries`)).body
  return { ...app, at, company, webhook, one, received, receiver, sender, deliveries, host }
}

const issue = (app: Awaited<ReturnType<typeof arrange>>, title = 'Draw') =>
  app.make('POST', `${app.at}/issues`, { title })

test('each selected activity is sent once to a webhook, signed and in order', async (t) => {
  const app = await arrange(t, { events: ['issue.created'] })
  await issue(app, 'Draw <!channel>')
  const second = await issue(app, 'Print')
  await app.make('PATCH', `/api/issues/${second.id}`, { priority: 'high' })
  await app.sender.pass()
  await app.sender.pass()
  assert.equal(app.received.length, 2)
  const deliveries = (await app.deliveries()).toReversed()
  assert.deepEqual(
    deliveries.map(({ status, attempts, responseStatus }: Record<string, unknown>) => [
      status,
      attempts,
      responseStatus,
    ]),
    [
      ['delivered', 1, 200],
      ['delivered', 1, 200],
    ],
  )
  const { headers, body } = app.received.find((each) => each.headers['webhook-id'] === deliveries[0].id)!
  const key = Buffer.from(app.webhook.secret.slice('whsec_'.length), 'base64')
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  assert.equal(headers['webhook-signature'], `v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
  assert.equal(headers['webhook-timestamp'], String(Date.parse('2026-11-21T09:00:00Z') / 1_000))
  const sent = JSON.parse(body)
  assert.deepEqual(sent, deliveries[0].payload)
  assert.equal(sent.type, 'issue.created')
  assert.equal(sent.data.entity.title, 'Draw <!channel>')
  assert.match(sent.text, /^issue\.created: \w+-\d+ Draw &lt;!channel&gt; \(by the board\)$/)
})

test('the documentation example verifies a request, and refuses an altered or old request', async () => {
  const guide = readFileSync(path.join(packageRoot(), 'docs/guides/webhooks.md'), 'utf8')
  const [, source] = /```js\n([\s\S]*?)```/.exec(guide)!
  const { isFromService } = await import(`data:text/javascript,${encodeURIComponent(source!)}`)
  const at = new Date().toISOString()
  const [id, body, secret] = ['one', '{"type":"issue.created"}', `whsec_${Buffer.alloc(24, 7).toString('base64')}`]
  const headers = signatureHeaders({ id, at, body, secret })
  assert.equal(isFromService(headers, body, secret), true)
  assert.equal(isFromService(headers, `${body} `, secret), false)
  assert.equal(isFromService(headers, body, `whsec_${Buffer.alloc(24, 8).toString('base64')}`), false)
  assert.equal(isFromService({}, body, secret), false)
  const old = new Date(Date.now() - 600_000).toISOString()
  assert.equal(isFromService(signatureHeaders({ id, at: old, body, secret }), body, secret), false)
})

test('a failed delivery is retried with growing delays, also after a restart', async (t) => {
  const app = await arrange(t, { events: ['issue.created'] })
  app.receiver.status = 503
  await issue(app)
  await app.sender.pass()
  const [first] = await app.deliveries()
  assert.deepEqual([first.status, first.attempts, first.error], ['pending', 1, 'The URL responded with 503.'])
  await app.sender.pass()
  assert.equal(app.received.length, 1, 'it is not due yet')
  // A second server continues the deliveries.
  await app.sender.close()
  const next = createWebhookSender(app.ctx)
  app.onClose(() => next.close())
  for (const [i, wait] of BACKOFF_MS.entries()) {
    app.clock.move(wait * 1.11)
    if (i === 2) app.receiver.status = 200
    await next.pass()
  }
  const [delivered] = await app.deliveries()
  assert.deepEqual([delivered.status, delivered.attempts], ['delivered', 4])
  assert.equal(new Set(app.received.map(({ headers, body }) => `${headers['webhook-id']} ${body}`)).size, 1)
  assert.equal((await app.request('GET', app.one)).body.failingSince, null)
})

test('a delivery fails after the last attempt, and redirects are not followed', async (t) => {
  const app = await arrange(t, { events: ['issue.created'] })
  Object.assign(app.receiver, { status: 307, location: `http://${app.host}/elsewhere` })
  await issue(app)
  await app.sender.pass()
  for (const wait of BACKOFF_MS) {
    app.clock.move(wait * 1.11)
    await app.sender.pass()
  }
  const [failed] = await app.deliveries()
  assert.deepEqual([failed.status, failed.attempts, failed.responseStatus], ['failed', BACKOFF_MS.length + 1, 307])
  assert.equal(app.received.length, BACKOFF_MS.length + 1)
})

test('a webhook without success for three days is disabled with a notice; one that returns 410 is disabled immediately', async (t) => {
  const app = await arrange(t, { events: ['issue.created'] })
  app.receiver.status = 500
  await issue(app)
  await app.sender.pass()
  app.clock.move(FAILING_MS + 1)
  await issue(app)
  await app.sender.pass()
  const found = (await app.request('GET', app.one)).body
  assert.deepEqual([found.status, found.disabledWhy], ['disabled', 'failing'])
  assert.deepEqual(
    (await app.deliveries()).map(({ status }: { status: string }) => status),
    ['failed', 'failed'],
  )
  assert.ok(app.logged.some((line) => line.includes('A webhook was disabled.')))
  const activity = (await app.request('GET', `${app.at}/activity?action=webhook.disabled`)).body
  assert.deepEqual([activity.length, activity[0].actorType], [1, 'system'])

  await issue(app, 'while it is disabled')
  app.receiver.status = 410
  await app.make('PATCH', app.one, { status: 'active' })
  const before = app.received.length
  await app.sender.pass()
  assert.equal(app.received.length, before, 'what happened meanwhile is not sent')
  await app.make('POST', `${app.one}/test`)
  await app.sender.pass()
  assert.equal((await app.request('GET', app.one)).body.disabledWhy, 'gone')
})

test('a name is resolved before each attempt, and connections to private addresses are refused', async (t) => {
  const app = await arrange(t, { events: ['issue.created'] })
  await app.make('PATCH', app.one, { url: 'https://ci.example.com/hook' })
  await issue(app)
  const sender = createWebhookSender(app.ctx, { lookup: async () => ['203.0.114.9', '10.0.0.1'] })
  app.onClose(() => sender.close())
  await sender.pass()
  const [delivery] = await app.deliveries()
  assert.equal(delivery.error, 'Not sent: ci.example.com is an address of this machine or of a private network.')
  assert.equal(delivery.responseStatus, null)
})

test('the job sends events automatically within a short time', async (t) => {
  const app = await arrange(t, { events: ['issue.created'] })
  app.sender.start()
  await issue(app)
  while (app.received.length === 0) await new Promise((resolve) => setImmediate(resolve))
  assert.equal(JSON.parse(app.received[0]!.body).type, 'issue.created')
})

test('a receiver that switches the protocol or closes the connection does not stop the deliveries', async (t) => {
  const app = await arrange(t, { events: ['issue.created'] })
  for (const reply of ['HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n', '']) {
    const receiver = createSocketServer((socket) => socket.on('error', () => {}).once('data', () => socket.end(reply)))
    await once(receiver.listen(0, '127.0.0.1'), 'listening')
    t.after(() => receiver.close())
    const host = `127.0.0.1:${(receiver.address() as AddressInfo).port}`
    app.config.webhookHosts.push(host)
    await app.make('PATCH', app.one, { url: `http://${host}/hook` })
    await issue(app)
    await app.sender.pass()
    const [delivery] = await app.deliveries()
    assert.deepEqual([delivery.status, delivery.attempts], ['pending', 1])
  }
})

test('slow receivers of one company do not keep the deliveries of another waiting', async (t) => {
  const app = await arrange(t, { events: ['issue.created'] })
  const held: (() => void)[] = []
  const slow = createServer((_, response) => held.push(() => response.end()))
  await once(slow.listen(0, '127.0.0.1'), 'listening')
  t.after(() => slow.close())
  const host = `127.0.0.1:${(slow.address() as AddressInfo).port}`
  app.config.webhookHosts.push(host)
  for (let n = 0; n < 5; n++) await app.make('POST', `${app.at}/webhooks`, { url: `http://${host}/${n}` })
  for (let n = 0; n < 30; n++) await issue(app)
  const beta = await app.make('POST', '/api/companies', { name: 'Beta' })
  await app.make('POST', `/api/companies/${beta.id}/webhooks`, {
    url: `http://${app.host}/beta`,
    events: ['issue.created'],
  })
  await app.make('POST', `/api/companies/${beta.id}/issues`, { title: 'Of Beta' })
  const passed = app.sender.pass()
  const isReceived = () => app.received.some(({ body }) => JSON.parse(body).data.companyId === beta.id)
  // Each response frees one place.
  for (let n = 0; n < 40 && !isReceived(); n++) {
    while (held.length === 0 && !isReceived()) await delay(5)
    held.shift()?.()
    await delay(5)
  }
  assert.ok(isReceived())
  const free = setInterval(() => {
    for (const end of held.splice(0)) end()
  }, 5)
  await app.sender.close()
  clearInterval(free)
  await passed
})
