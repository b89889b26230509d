import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { temporaryFolder } from '../../helpers.ts'
import { runCommand } from '../cli/in-process.ts'
import { environment, LAUNCHER, runService, startService } from '../cli/service.ts'

/** Sends a JSON request and expects a 2xx. */
async function send(url: string, method: string, body?: object) {
  const response = await fetch(url, {
    method,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  const text = await response.text()
  assert.ok(response.ok, `${method} ${url}: ${response.status} ${text}`)
  return JSON.parse(text)
}

/** Starts a server with a company, an issue with an attachment, a secret, and an agent with instructions in its own folder. */
async function startWithContent(t: Parameters<typeof startService>[0], dataDir: string) {
  const server = await startService(t, ['--data-dir', dataDir])
  const company = await send(`${server.url}/api/companies`, 'POST', { name: 'Backed up' })
  const base = `${server.url}/api/companies/${company.id}`
  const issue = await send(`${base}/issues`, 'POST', { title: 'Keep me' })
  await send(`${base}/secrets`, 'POST', { name: 'TOKEN', value: 'a-value-to-keep-7c1f' })
  const agent = await send(`${base}/agents`, 'POST', {
    name: 'Kit',
    role: 'engineer',
    adapterType: 'process',
    adapterConfig: { command: 'true' },
  })
  const form = new FormData()
  form.set('file', new Blob(['attached'], { type: 'text/plain' }), 'note.txt')
  const attached = await fetch(`${server.url}/api/issues/${issue.id}/attachments`, {
    method: 'POST',
    body: form,
  })
  assert.equal(attached.status, 201)
  return { server, company, issue, agent, base }
}

test('a backup during writes contains every write before its start, and is valid', async (t) => {
  const dataDir = temporaryFolder(t)
  const { base } = await startWithContent(t, dataDir)
  let acknowledged = 1
  let isOver = false
  const writer = (async () => {
    while (!isOver) {
      await send(`${base}/issues`, 'POST', { title: `Issue ${acknowledged}` })
      acknowledged += 1
    }
  })()
  const before = acknowledged
  const made = await runService(t, ['backup', '--data-dir', dataDir, '--json'])
  isOver = true
  await writer
  assert.equal(made.code, 0, made.err)
  const backup = JSON.parse(made.out)
  assert.ok(acknowledged > before, 'the server was written to meanwhile')
  assert.ok(
    backup.issues >= before && backup.issues <= acknowledged,
    `${backup.issues} of ${before} to ${acknowledged}`,
  )
  assert.equal(path.dirname(backup.file), path.join(dataDir, 'backups'))
  assert.deepEqual(readdirSync(path.join(dataDir, 'backups')), [path.basename(backup.file)])
})

test('a restore after deletion of the data directory restores files, issues, and secrets if the backup contains the keys', async (t) => {
  const folder = temporaryFolder(t)
  const dataDir = path.join(folder, 'data')
  const { server, company, issue } = await startWithContent(t, dataDir)
  const [withKeys, without] = ['with.tar.gz', 'without.tar.gz'].map((name) => path.join(folder, name)) as [
    string,
    string,
  ]
  assert.equal((await runCommand(t, ['backup', '--data-dir', dataDir, '--out', withKeys, '--with-keys'])).code, 0)
  assert.equal((await runCommand(t, ['backup', '--data-dir', dataDir, '--out', without])).code, 0)
  const refused = await runCommand(t, ['restore', withKeys, '--data-dir', dataDir, '--yes'])
  assert.deepEqual([refused.code, /Nothing was restored/.test(refused.err)], [75, true])
  process.kill(server.pid, 'SIGKILL')
  await server.ended

  const other = path.join(folder, 'other')
  const restored = await runCommand(t, ['restore', withKeys, '--data-dir', other, '--yes', '--json'])
  assert.equal(restored.code, 0, restored.err)
  assert.deepEqual(JSON.parse(restored.out).unreadableSecrets, [])
  const again = await startService(t, ['--data-dir', other])
  assert.equal((await send(`${again.url}/api/issues/${issue.id}`, 'GET')).title, 'Keep me')
  const [attachment] = await send(`${again.url}/api/issues/${issue.id}/attachments`, 'GET')
  const content = await fetch(`${again.url}/api/assets/${attachment.assetId}`)
  assert.equal(await content.text(), 'attached')
  assert.equal((await send(`${again.url}/api/companies`, 'GET'))[0].id, company.id)

  const third = path.join(folder, 'third')
  const locked = await runCommand(t, ['restore', without, '--data-dir', third, '--yes', '--json'])
  assert.equal(locked.code, 0, locked.err)
  assert.match(JSON.parse(locked.out).unreadableSecrets.join(), /TOKEN/)
})

test('a restore preserves the previous files, and the next start completes an interrupted restore', async (t) => {
  const folder = temporaryFolder(t)
  const dataDir = path.join(folder, 'data')
  const { server, issue } = await startWithContent(t, dataDir)
  const archive = path.join(folder, 'b.tar.gz')
  assert.equal((await runCommand(t, ['backup', '--data-dir', dataDir, '--out', archive])).code, 0)
  await send(`${server.url}/api/issues/${issue.id}`, 'PATCH', { title: 'Changed later' })
  process.kill(server.pid, 'SIGKILL')
  await server.ended
  const restored = JSON.parse((await runCommand(t, ['restore', archive, '--data-dir', dataDir, '--yes', '--json'])).out)
  assert.ok(existsSync(path.join(restored.keptIn, 'service.db')))

  // The state after a kill: the old files are moved away, and one of the new files is in place.
  const from = path.join(dataDir, '.restore-x', 'files')
  mkdirSync(from, { recursive: true })
  renameSync(path.join(dataDir, 'service.db'), path.join(from, 'service.db'))
  writeFileSync(
    path.join(dataDir, 'restore-pending.json'),
    JSON.stringify({ from, keepIn: restored.keptIn, step: 'move_in' }),
  )
  const started = await startService(t, ['--data-dir', dataDir])
  assert.equal((await send(`${started.url}/api/issues/${issue.id}`, 'GET')).title, 'Keep me')
  assert.deepEqual(
    readdirSync(dataDir).filter((name) => name.includes('restore-') && !name.startsWith('before')),
    [],
  )
})

test('an archive that is truncated, altered or not a backup is refused, and nothing changes', async (t) => {
  const folder = temporaryFolder(t)
  const dataDir = path.join(folder, 'data')
  await startWithContent(t, dataDir)
  const archive = path.join(folder, 'b.tar.gz')
  assert.equal((await runCommand(t, ['backup', '--data-dir', dataDir, '--out', archive])).code, 0)
  const bytes = readFileSync(archive)
  const tar = gunzipSync(bytes)
  const altered = Buffer.from(tar)
  altered[100_000] = altered[100_000]! ^ 1
  const bad = {
    'half of it': bytes.subarray(0, bytes.length / 2),
    'without its end': gzipSync(tar.subarray(0, tar.length - 8_192)),
    'one bit altered': gzipSync(altered),
    'no archive': Buffer.from('{}'),
    empty: Buffer.alloc(0),
  }
  for (const [name, content] of Object.entries(bad)) {
    const file = path.join(folder, 'bad.tar.gz')
    writeFileSync(file, content)
    const target = path.join(folder, 'target')
    const ended = await runCommand(t, ['restore', file, '--data-dir', target, '--yes'])
    assert.deepEqual([ended.code, /is not a complete backup/.test(ended.err)], [1, true], `${name}: ${ended.err}`)
    assert.deepEqual(readdirSync(target), ['server.lock'], name)
  }
})

test('a backup that is killed or runs out of space leaves no archive, and the next backup removes its temporary files', async (t) => {
  const folder = temporaryFolder(t)
  const dataDir = path.join(folder, 'data')
  await startWithContent(t, dataDir)
  const out = path.join(folder, 'out', 'b.tar.gz')
  const command = [
    'exec',
    `"${process.execPath}"`,
    `"${LAUNCHER}"`,
    'backup',
    '--data-dir',
    `"${dataDir}"`,
    '--out',
    `"${out}"`,
  ].join(' ')
  // A limit of 64 KB per file simulates a full disk.
  const limited = spawn('/bin/sh', ['-c', `trap '' XFSZ; ulimit -f 128; ${command}`], {
    env: environment(),
    stdio: 'pipe',
  })
  const [code] = await once(limited, 'exit')
  assert.notEqual(code, 0)
  assert.deepEqual(readdirSync(path.dirname(out)), [])

  const killed = spawn('/bin/sh', ['-c', command], { env: environment(), stdio: 'pipe' })
  while (!existsSync(path.dirname(out)) || readdirSync(path.dirname(out)).length === 0) {
    await new Promise((resolve) => setImmediate(resolve))
  }
  killed.kill('SIGKILL')
  await once(killed, 'exit')
  assert.ok(!existsSync(out))
  assert.equal((await runCommand(t, ['backup', '--data-dir', dataDir, '--out', out])).code, 0)
  assert.deepEqual(readdirSync(path.dirname(out)), ['b.tar.gz'])
})

test('a server in read-only mode accepts every read and refuses every change', async (t) => {
  const folder = temporaryFolder(t)
  const dataDir = path.join(folder, 'data')
  const { issue, company } = await startWithContent(t, dataDir)
  const archive = path.join(folder, 'b.tar.gz')
  assert.equal((await runCommand(t, ['backup', '--data-dir', dataDir, '--out', archive])).code, 0)
  const usage = await runService(t, ['start', '--from', archive])
  assert.deepEqual([usage.code, /--read-only/.test(usage.err)], [2, true])
  const viewer = await startService(t, ['--read-only', '--from', archive])
  assert.equal((await send(`${viewer.url}/api/instance`, 'GET')).isReadOnly, true)
  for (const read of [
    `/api/issues/${issue.id}`,
    `/api/companies/${company.id}/dashboard`,
    `/api/companies/${company.id}/activity`,
    '/',
  ]) {
    assert.equal((await fetch(viewer.url + read)).status, 200, read)
  }
  const refused = await fetch(`${viewer.url}/api/issues/${issue.id}`, {
    method: 'PATCH',
    body: '{"title":"Changed"}',
    headers: { 'content-type': 'application/json' },
  })
  assert.deepEqual([refused.status, ((await refused.json()) as { code: string }).code], [403, 'read_only'])
})
