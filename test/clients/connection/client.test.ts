import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { ERROR_STATUS } from '../../../src/platform/errors.ts'
import { identityOf } from '../../../src/runtime/process/process-table.ts'
import { temporaryFolder } from '../../helpers.ts'
import { runCommand } from '../cli/in-process.ts'
import { environment, LAUNCHER, runService, startService } from '../cli/service.ts'

const UNUSED_URL = 'http://127.0.0.1:9'

test('help exits with 0 and prints examples, and an unknown command is a usage error', async (t) => {
  for (const args of [['--help'], ['start', '--help'], ['api', '--help'], []]) {
    const { code, out, err } = await runService(t, args)
    assert.deepEqual([code, err], [0, ''], args.join(' '))
    assert.match(out, /Examples:/)
  }
  for (const args of [['nope'], ['--nope'], ['start', '--nope'], ['api'], ['api', 'GET', '/', '{', 'more']]) {
    const { code, out, err } = await runService(t, args)
    assert.deepEqual([code, out], [2, ''], args.join(' '))
    assert.notEqual(err, '')
  }
})

test('api sends any request, prints the response, and accepts a body as text, file or input', async (t) => {
  const dataDir = temporaryFolder(t)
  await startService(t, ['--data-dir', dataDir])
  const at = ['--data-dir', dataDir]
  const made = await runService(t, ['api', 'post', '/api/companies', '{"name":"Tern & Co"}', ...at])
  assert.equal(made.code, 0, made.err)
  assert.equal(JSON.parse(made.out).issuePrefix, 'TER')
  const file = path.join(dataDir, 'body.json')
  writeFileSync(file, '{"name":"Walrus"}')
  assert.equal((await runService(t, ['api', 'POST', '/api/companies', `@${file}`, ...at])).code, 0)
  const listed = await runService(t, ['api', 'GET', '/api/companies?count=true', '-i', ...at])
  assert.match(listed.out, /^200\n(.+\n)*x-total-count: 2\n/)
  const wrong = await runService(t, ['api', 'POST', '/api/companies', 'not json', ...at])
  assert.equal(wrong.code, 2)
})

test('commands use the server and the key from the environment', async (t) => {
  const { url } = await startService(t, ['--data-dir', temporaryFolder(t)])
  const named = await runService(t, ['api', 'GET', '/api/companies'], { SERVICE_API_URL: url })
  assert.deepEqual([named.code, named.out], [0, '[]\n'])
  const env = { SERVICE_API_URL: url, SERVICE_API_KEY: 'svc_wrong' }
  assert.equal((await runService(t, ['api', 'GET', '/api/companies'], env)).code, 4)
})

test('without a server the exit code is 3 and the error says what to do', async (t) => {
  const { code, err } = await runService(t, ['api', 'GET', '/api/companies', '--url', UNUSED_URL])
  assert.equal(code, 3)
  assert.match(err, /^service: No server responds at .* `node .*service\.mjs start`.*\n$/)
})

test('a data directory without a server exits with 3, even if its old port is in use', async (t) => {
  const other = await startService(t, ['--data-dir', temporaryFolder(t)])
  const dataDir = temporaryFolder(t)
  const at = ['api', 'GET', '/api/companies']
  for (const [args, env] of [
    [[...at, '--data-dir', dataDir], {}],
    [[...at, '--data-dir', dataDir], { SERVICE_API_URL: other.url }],
    [at, { SERVICE_HOME: dataDir }],
  ] as const) {
    const { code, err } = await runService(t, [...args], env)
    assert.deepEqual([code, err.includes(`No server uses the data directory ${dataDir}`)], [3, true], err)
  }
  // A killed server leaves its URL file, and another server can use its port.
  const stale = { pid: process.pid, url: other.url, instance: '00000000-0000-4000-8000-000000000000' }
  writeFileSync(path.join(dataDir, 'server.json'), JSON.stringify(stale))
  for (const args of [at, ['company', 'list'], ['status'], ['wait', 'TER-1']]) {
    const { code, err } = await runCommand(t, [...args, '--data-dir', dataDir])
    assert.equal(code, 3, `${args.join(' ')}: ${err}`)
  }
})

test('a text is printed completely to a slow pipe', async (t) => {
  const dataDir = temporaryFolder(t)
  const { url } = await startService(t, ['--data-dir', dataDir])
  const post = (to: string, body: object) =>
    fetch(url + to, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  const company = (await (await post('/api/companies', { name: 'Tern & Co' })).json()) as { id: string }
  await post(`/api/companies/${company.id}/issues`, { title: 'Draw' })
  // A program that opens its standard input makes the pipe non-blocking, also for its child processes.
  const starter = `process.stdin; require('node:child_process').spawn(process.execPath, process.argv.slice(1), { stdio: 'inherit' })`
  const args = [LAUNCHER, 'issue', 'comment', 'TER-1', '-', '--json', '--data-dir', dataDir]
  const child = spawn(process.execPath, ['-e', starter, ...args], { env: environment() })
  child.stdin.write('a'.repeat(50_000))
  setTimeout(() => child.stdin.end('b'.repeat(40_000)), 1_000)
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  assert.equal(err, '')
  assert.equal(JSON.parse(out).body, 'a'.repeat(50_000) + 'b'.repeat(40_000))
})

/** Starts a server that returns the error that the path names. */
async function startRefuser(t: TestContext): Promise<string> {
  const server = createServer((request, response) => {
    const code = request.url!.slice(1) as keyof typeof ERROR_STATUS
    response.writeHead(ERROR_STATUS[code], { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: `It is ${code}.`, code, requestId: '1' }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('each kind of error has its exit code, with the response on standard output and the message on standard error', async (t) => {
  const url = await startRefuser(t)
  const expected = {
    validation_failed: 2,
    unauthenticated: 4,
    forbidden: 4,
    not_found: 5,
    issue_taken: 6,
    budget_exceeded: 7,
    strategy_not_approved: 7,
    invalid_transition: 1,
    internal: 1,
  }
  for (const [error, exitCode] of Object.entries(expected)) {
    const { code, out, err } = await runCommand(t, ['api', 'GET', `/${error}`, '--url', url])
    assert.deepEqual([code, err, JSON.parse(out).code], [exitCode, `service: It is ${error}.\n`, error])
  }
})

test('status reports a running server as text and as JSON', async (t) => {
  const dataDir = temporaryFolder(t)
  const server = await startService(t, ['--data-dir', dataDir])
  const displayed = await runService(t, ['status', '--data-dir', dataDir])
  assert.equal(displayed.code, 0)
  assert.ok(displayed.out.includes(server.url) && displayed.out.includes(`pid ${server.pid}`), displayed.out)
  const json = JSON.parse((await runService(t, ['status', '--json', '--data-dir', dataDir])).out)
  assert.deepEqual([json.url, json.pid, json.status, json.companies], [server.url, server.pid, 'ok', []])
})

test('stop waits until the server has ended, and the next stop finds no server', async (t) => {
  const dataDir = temporaryFolder(t)
  const server = await startService(t, ['--data-dir', dataDir])
  const stopped = await runService(t, ['stop', '--data-dir', dataDir, '--json'])
  assert.equal(stopped.code, 0, stopped.err)
  // A zombie, whose threads may still be ending, is not live.
  assert.equal(identityOf(server.pid), undefined)
  assert.equal((await server.ended).code, 0)
  assert.equal((await runService(t, ['stop', '--data-dir', dataDir])).code, 3)
})

test('stop sends no signal to a process that is not the server of the data directory', async (t) => {
  const dataDir = temporaryFolder(t)
  const { url } = await startService(t, ['--data-dir', temporaryFolder(t)])
  // The files of a crashed server, if other processes now have its pid and its port.
  const stale = { pid: process.pid, url, instance: '00000000-0000-4000-8000-000000000000' }
  writeFileSync(path.join(dataDir, 'server.json'), JSON.stringify(stale))
  const { code, err } = await runService(t, ['stop', '--data-dir', dataDir])
  assert.equal(code, 3)
  assert.match(err, /uses another data directory, so it was not stopped/)
})
