import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { temporaryFolder } from '../../helpers.ts'
import { environment, LAUNCHER, startService } from './service.ts'

test('a server continues after its standard output is closed', async (t) => {
  const server = await startService(t, ['--data-dir', temporaryFolder(t)])
  server.child.stdout!.destroy()
  server.child.stderr!.destroy()
  const request = (method: string, path: string, body?: object) =>
    fetch(server.url + path, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
  // The server logs each deletion to its closed standard output.
  for (const name of ['One', 'Two']) {
    const { id } = (await (await request('POST', '/api/companies', { name })).json()) as { id: string }
    assert.equal((await request('DELETE', `/api/companies/${id}`, { confirm: name })).status, 200)
  }
  assert.equal((await request('GET', '/api/health')).status, 200)
})

test('a command whose output pipe is closed exits without a message', async () => {
  const child = spawn(process.execPath, [LAUNCHER, 'completion', 'bash'], { env: environment(), stdio: 'pipe' })
  child.stdout.destroy()
  const [err, [code, signal]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  assert.deepEqual([code, signal, err], [0, null, ''])
})
