import assert from 'node:assert/strict'
import { createSecretKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { SignJWT } from 'jose'
import { createApp } from '../../../src/app.ts'
import { sql } from '../../../src/platform/database/sql.ts'
import { insertAgentRow, insertCompany, insertKey, insertRunRow } from '../../arrange.ts'
import { createTestApp, TEST_KEYS } from '../../helpers.ts'

/** Creates an app with an agent that has a key, and a run that has a token. */
async function arrange(t: TestContext, role = 'ceo') {
  const app = createTestApp(t)
  const companyId = insertCompany(app.ctx)
  const agentId = insertAgentRow(app.ctx, { company_id: companyId, role }).id
  const runId = insertRunRow(app.ctx, { id: agentId })
  const token = await app.ctx.tokens.sign({ id: runId, agentId, companyId })
  return { ...app, companyId, agentId, runId, token, key: insertKey(app.ctx, { id: agentId }, { last_used_at: null }) }
}

for (const mode of ['local_trusted', 'authenticated'] as const) {
  test(`in ${mode} mode an invalid credential is 401 and never grants board access`, async (t) => {
    const { request } = createTestApp(t, { mode })
    const wrong = [
      'Bearer wrong',
      'Bearer',
      'Bearer ',
      '',
      'Basic Ym9hcmQ6Ym9hcmQ=',
      'bearer',
      'Bearer a b',
      'Token x',
      'Bearer svc_wrong',
      'local-board',
      'Bearer local-board',
      'Bearer undefined',
      'Bearer a, Bearer b',
    ]
    for (const authorization of wrong) {
      for (const [method, path] of [
        ['GET', '/api/companies'],
        ['POST', '/api/companies'],
        ['GET', '/api/health'],
      ] as const) {
        const { status, body, headers } = await request(method, path, method === 'POST' ? { name: 'x' } : undefined, {
          authorization,
        })
        assert.equal(status, 401, `${method} ${path} ${authorization}`)
        assert.equal(body.code, 'unauthenticated')
        assert.equal(headers.get('www-authenticate'), 'Bearer')
      }
    }
  })
}

test('a request without a credential is the board in local trusted mode, and 401 in authenticated mode', async (t) => {
  assert.equal((await createTestApp(t).request('GET', '/api/companies')).status, 200)
  const { request } = createTestApp(t, { mode: 'authenticated' })
  assert.equal((await request('GET', '/api/companies')).status, 401)
  assert.equal((await request('GET', '/api/health')).status, 200)
  assert.equal((await request('GET', '/api/openapi.json')).status, 200)
})

test('an agent key authenticates its agent, and its last use is recorded at most once a minute', async (t) => {
  const { ctx, as, key, companyId, clock } = await arrange(t)
  const lastUsed = () => ctx.db.first(sql.selectFrom('agent_key').select('last_used_at'))?.last_used_at
  const { body } = await as(key.key)('GET', '/api/companies')
  assert.deepEqual(
    body.map((company: { id: string }) => company.id),
    [companyId],
  )
  await ctx.write(() => {})
  const first = lastUsed()
  assert.equal(first, ctx.now)
  clock.move(59_000)
  await as(key.key)('GET', '/api/companies')
  await ctx.write(() => {})
  assert.equal(lastUsed(), first)
  clock.move(1_000)
  await as(key.key)('GET', '/api/companies')
  await ctx.write(() => {})
  assert.equal(lastUsed(), ctx.now)
})

test('a revoked key is 401 from the next request', async (t) => {
  const { ctx, as, key } = await arrange(t)
  assert.equal((await as(key.key)('GET', '/api/companies')).status, 200)
  ctx.db.run(sql.updateTable('agent_key').set({ revoked_at: ctx.now }))
  assert.equal((await as(key.key)('GET', '/api/companies')).status, 401)
})

for (const status of ['terminated', 'pending_approval'] as const) {
  test(`the key of an agent that is ${status} is 401`, async (t) => {
    const { ctx, as, key } = await arrange(t)
    ctx.db.run(sql.updateTable('agent').set({ status }))
    assert.equal((await as(key.key)('GET', '/api/companies')).status, 401)
  })
}

test('a run token authenticates its agent, in the company of the agent only', async (t) => {
  const { ctx, as, token, companyId } = await arrange(t)
  const other = insertCompany(ctx, 'Other')
  assert.equal((await as(token)('GET', `/api/companies/${companyId}`)).status, 200)
  for (const path of [`/api/companies/${other}`, '/api/companies/nowhere']) {
    const { status, body } = await as(token)('GET', path)
    assert.equal(status, 403)
    assert.equal(body.code, 'wrong_company')
  }
})

test('the token of an ended run is 401 run_ended from the next request', async (t) => {
  const { ctx, as, token, runId } = await arrange(t)
  assert.equal((await as(token)('GET', '/api/companies')).status, 200)
  await ctx.write(() =>
    ctx.db.run(sql.updateTable('run').set({ status: 'succeeded', finished_at: ctx.now }).where('id', '=', runId)),
  )
  const { status, body, headers } = await as(token)('GET', '/api/companies')
  assert.equal(status, 401)
  assert.equal(body.code, 'run_ended')
  assert.equal(headers.get('www-authenticate'), 'Bearer')
})

test('the token of a terminated agent is 401, even while its run is still stopping', async (t) => {
  const { ctx, as, token } = await arrange(t)
  ctx.db.run(sql.updateTable('agent').set({ status: 'terminated' }))
  assert.equal((await as(token)('GET', '/api/companies')).status, 401)
})

test('a token that is forged, expired, of another server or of another type is 401', async (t) => {
  const { request, agentId, companyId, runId, token } = await arrange(t)
  const claims = (change: Record<string, unknown> = {}) => ({ companyId, runId, ...change })
  const make = (
    change: {
      alg?: string
      typ?: string
      iss?: string
      aud?: string
      exp?: string
      key?: Parameters<SignJWT['sign']>[0]
      sub?: string
    } = {},
  ) => {
    const jwt = new SignJWT(claims())
      .setProtectedHeader({
        alg: change.alg ?? 'HS256',
        ...(change.typ === '' ? {} : { typ: change.typ ?? 'service-run+jwt' }),
      })
      .setIssuer(change.iss ?? 'service')
      .setAudience(change.aud ?? 'service-api')
      .setJti(runId)
      .setIssuedAt()
    if (change.sub !== '') jwt.setSubject(agentId)
    if (change.exp !== '') jwt.setExpirationTime(change.exp ?? '1h')
    return jwt.sign(change.key ?? TEST_KEYS.runToken)
  }
  const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const [, payload, signature] = token.split('.')
  const unsigned = { alg: 'none', typ: 'service-run+jwt' }
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const wrong = {
    'of another key': await make({ key: randomBytes(32) }),
    expired: await make({ exp: '-1s' }),
    'without an expiry': await make({ exp: '' }),
    'of another type': await make({ typ: 'JWT' }),
    'without a type': await make({ typ: '' }),
    'for another audience': await make({ aud: 'elsewhere' }),
    'of another issuer': await make({ iss: 'elsewhere' }),
    'without a subject': await make({ sub: '' }),
    'of another HMAC': await make({ alg: 'HS512', key: createSecretKey(randomBytes(64)) }),
    'signed RS256': await make({ alg: 'RS256', key: privateKey }),
    unsigned: `${base64(unsigned)}.${payload}.`,
    'unsigned, with a signature': `${base64(unsigned)}.${payload}.${signature}`,
    'with another payload': `${token.split('.')[0]}.${base64(claims())}.${signature}`,
    'without a signature': `${token.split('.').slice(0, 2).join('.')}.`,
    'cut short': token.slice(0, -2),
    empty: '..',
  }
  assert.equal(
    (await request('GET', '/api/companies', undefined, { authorization: `Bearer ${await make()}` })).status,
    200,
  )
  for (const [name, bad] of Object.entries(wrong)) {
    const { status, body } = await request('GET', '/api/companies', undefined, { authorization: `Bearer ${bad}` })
    assert.equal(status, 401, name)
    assert.equal(body.code, 'unauthenticated', name)
  }
})

test('a body or a query cannot set the caller', async (t) => {
  const { as, token } = await arrange(t, 'engineer')
  const { status } = await as(token)('POST', '/api/companies?userId=local-board', { name: 'Mine', actorType: 'user' })
  assert.equal(status, 403)
})

test('a credential that ends while the body arrives is refused', async (t) => {
  const app = await arrange(t)
  const { ctx, runId, companyId, token, key } = app
  const api = createApp(ctx, ctx.tokens)
  const end: Record<string, () => void> = {
    [token]: () =>
      void ctx.db.run(
        sql.updateTable('run').set({ status: 'succeeded', finished_at: ctx.now }).where('id', '=', runId),
      ),
    [key.key]: () => void ctx.db.run(sql.updateTable('agent_key').set({ revoked_at: ctx.now })),
  }
  for (const [credential, finish] of Object.entries(end)) {
    const body = new TransformStream<Uint8Array, Uint8Array>()
    const response = api.request(`/api/companies/${companyId}/issues`, {
      method: 'POST',
      headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
      body: body.readable,
      duplex: 'half',
    } as RequestInit)
    const writer = body.writable.getWriter()
    await writer.write(Buffer.from('{"title":'))
    // Longer than the time in which a body is one with its headers.
    await delay(150)
    finish()
    void writer.write(Buffer.from('"Late"}')).then(() => writer.close())
    assert.equal((await response).status, 401)
  }
  assert.deepEqual((await app.request('GET', `/api/companies/${companyId}/issues`)).body, [])
})
