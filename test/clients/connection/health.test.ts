import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client } from '../../../src/clients/connection/client.ts'
import { readHealth } from '../../../src/clients/connection/health.ts'
import { AppError } from '../../../src/platform/errors.ts'

const identity = { version: '1.0.0', mode: 'local_trusted', instance: 'one' }

const clientOf = (request: () => Promise<unknown>) => ({ request }) as unknown as Client

test('the health check identifies a server that cannot write its database', async () => {
  const failing = clientOf(() => Promise.reject(new AppError('disk_full', 'The disk is full.', identity)))
  assert.deepEqual(await readHealth(failing), { ...identity, status: 'failing', problem: 'The disk is full.' })
  const well = clientOf(() => Promise.resolve({ status: 'ok', ...identity }))
  assert.deepEqual(await readHealth(well), { ...identity, status: 'ok', problem: null })
})

test('an error that is not a health response is thrown', async () => {
  const other = clientOf(() => Promise.reject(new AppError('internal', 'Internal error.')))
  await assert.rejects(readHealth(other), { code: 'internal' })
})
