import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { clockCheck } from '../../../src/clients/doctor/clock.ts'
import { loginsCheck } from '../../../src/clients/doctor/logins.ts'
import { sql } from '../../../src/platform/database/sql.ts'
import { insertAgent, insertCompany } from '../../arrange.ts'
import { createTestApp, temporaryFolder } from '../../helpers.ts'

test('doctor says whether an installed agent program has a login', async (t) => {
  const home = temporaryFolder(t)
  const write = (name: string, content: string) => {
    mkdirSync(path.dirname(path.join(home, name)), { recursive: true })
    writeFileSync(path.join(home, name), content)
    chmodSync(path.join(home, name), 0o755)
  }
  const app = createTestApp(t, { environment: { HOME: home, PATH: path.join(home, 'bin') } })
  const look = async () => (await loginsCheck.run(app.config)).map(({ status, message }) => `${status}: ${message}`)
  assert.deepEqual(await look(), ['ok: No agent program is installed.'])

  write('bin/codex', '#!/bin/sh\n')
  write('.codex/auth.json', '{"tokens":{}}')
  assert.deepEqual(await look(), [`ok: codex has a login: ${home}/.codex/auth.json`])
  write('.codex/auth.json', '')
  const [none] = await look()
  if (process.platform !== 'darwin')
    assert.equal(none, `warning: codex has no login: there is no ${home}/.codex/auth.json.`)

  const companyId = insertCompany(app.ctx)
  const { id } = insertAgent(app, { company_id: companyId, adapter_type: 'runtimeB_local' })
  app.ctx.db.run(
    sql
      .updateTable('agent')
      .set({ adapter_config: '{"env":{"OPENAI_API_KEY":{"$redacted":true}}}' })
      .where('id', '=', id),
  )
  if (process.platform !== 'darwin') {
    assert.deepEqual(await look(), ['ok: codex has no login, and its agents have keys in their env.'])
  }

  write('bin/claude', '#!/bin/sh\n')
  const login = { accessToken: 'x', expiresAt: Date.now() - 1_000 }
  write('.claude/.credentials.json', JSON.stringify({ claudeAiOauth: login }))
  const expired = (await look()).find((line) => line.includes('claude'))
  assert.equal(expired, `warning: The login of claude has expired: ${home}/.claude/.credentials.json`)
  write('.claude/.credentials.json', JSON.stringify({ claudeAiOauth: { ...login, refreshToken: 'y' } }))
  assert.ok((await look()).includes(`ok: claude has a login: ${home}/.claude/.credentials.json`))
})

test('doctor detects a clock that was set back, by the activity and by the files', async (t) => {
  const app = createTestApp(t)
  const look = async () => (await clockCheck.run(app.config)).filter(({ hint }) => !hint?.includes('timedatectl'))
  app.clock.set(new Date(Date.now() - 1_000).toISOString())
  await app.make('POST', '/api/companies', { name: 'Acme' })
  assert.deepEqual(
    (await look()).map(({ status }) => status).filter((status) => status !== 'ok'),
    [],
  )
  app.clock.set(new Date(Date.now() + 7_200_000).toISOString())
  await app.make('POST', '/api/companies', { name: 'Later' })
  const [activity] = await look()
  assert.match(activity!.message, /^The latest activity is [12]h in the future: the clock was set back/)
  const file = path.join(app.config.dataDir, 'config.json')
  writeFileSync(file, '{}')
  utimesSync(file, new Date(), new Date(Date.now() + 7_200_000))
  assert.deepEqual(
    (await look()).map(({ message }) => message.split(' is ')[0]),
    ['The latest activity', 'The newest file of the data directory'],
  )
})
