import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failingCheck, fileLimitCheck, freezeCheck, walCheck } from '../../../src/clients/doctor/operation.ts'
import { sql } from '../../../src/platform/database/sql.ts'
import { createTestApp } from '../../helpers.ts'
import { arrangeCompany } from '../../make.ts'

test('doctor names agents in error and disabled webhooks', async (t) => {
  const app = createTestApp(t)
  const { company } = await arrangeCompany(app)
  const look = async () => failingCheck.run(app.config)
  assert.deepEqual(
    (await look()).map(({ status }) => status),
    ['ok'],
  )
  const { id } = await app.make('POST', `/api/companies/${company.id}/webhooks`, { url: 'https://ci.example.com/x' })
  await app.ctx.write(() => {
    app.ctx.db.run(
      sql
        .updateTable('webhook')
        .set({ status: 'disabled', disabled_why: 'gone', disabled_at: app.ctx.now })
        .where('id', '=', id),
    )
  })
  const [found] = await look()
  assert.deepEqual([found!.status, found!.message], ['warning', 'The webhook to ci.example.com is disabled (gone).'])
  const { id: agentId } = await app.make('POST', `/api/companies/${company.id}/agents`, {
    name: 'Kit',
    adapterType: 'process',
    adapterConfig: { command: 'true' },
  })
  await app.ctx.write(() => {
    app.ctx.db.run(
      sql
        .updateTable('agent')
        .set({
          status: 'paused',
          pause_reason: 'failures',
          pause_message: 'Its last 3 runs failed.',
          paused_at: app.ctx.now,
        })
        .where('id', '=', agentId),
    )
  })
  assert.deepEqual(
    (await look()).map(({ message }) => message),
    ['Kit is paused: Its last 3 runs failed.', 'The webhook to ci.example.com is disabled (gone).'],
  )
  assert.equal((await walCheck.run(app.config))[0]!.status, 'ok')
  assert.match((await fileLimitCheck.run(app.config))[0]!.message, /files can be open|not known/)
})

test('doctor warns of a freeze', async (t) => {
  const app = createTestApp(t)
  const look = async () => (await freezeCheck.run(app.config))[0]!
  assert.equal((await look()).status, 'ok')
  await app.make('POST', '/api/instance/freeze', { reason: 'The bill' })
  const { status, message } = await look()
  assert.equal(status, 'warning')
  assert.match(message, /^All runs are frozen since \d{4}-.*Z: The bill\.$/)
})
