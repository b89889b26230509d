import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { readServerInfo, readServerKeys } from '../../../src/platform/database/server-info.ts'
import { cookieOf, PASSWORD } from '../../access/auth/people.ts'
import { temporaryFolder } from '../../helpers.ts'
import { runCommand } from './in-process.ts'
import { runService, type ServerUnderTest, startService } from './service.ts'

const EMAIL = 'olga@example.com'

const submit = (url: string, fields: Record<string, string>) =>
  fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' })

/** Starts a server in authenticated mode with its first owner. */
async function startWithOwner(t: TestContext) {
  const dataDir = temporaryFolder(t)
  const server = await startService(t, ['--data-dir', dataDir, '--mode', 'authenticated'])
  const token = new URL((server as ServerUnderTest & { link: string }).link).searchParams.get('token')!
  const made = await submit(`${server.url}/setup`, { token, name: 'Olga', email: EMAIL, password: PASSWORD })
  return { dataDir, server, cookie: cookieOf(made.headers.get('set-cookie')) }
}

test('in authenticated mode commands require a personal token, and without one the error says what to do', async (t) => {
  const { dataDir, server, cookie } = await startWithOwner(t)
  const at = ['--data-dir', dataDir]
  for (const args of [['api', 'GET', '/api/companies'], ['issue', 'list'], ['company', 'list'], ['freeze']]) {
    const { code, err } = await runCommand(t, [...args, ...at])
    assert.equal(code, 4, args.join(' '))
    assert.ok(err.includes(`Sign in at ${server.url}/account`) && err.includes('SERVICE_API_KEY'), err)
  }
  const up = await runCommand(t, ['status', ...at])
  assert.equal(up.code, 0)
  assert.match(up.out, /is running at .*, authenticated\n$/)
  assert.match(up.err, /SERVICE_API_KEY/)
  assert.equal(JSON.parse((await runCommand(t, ['status', '--json', ...at])).out).companies, null)

  const made = await fetch(`${server.url}/api/board/tokens`, { method: 'POST', headers: { cookie } })
  const { token, id } = (await made.json()) as { token: string; id: string }
  const env = { SERVICE_API_KEY: token }
  const company = await runCommand(t, ['api', 'POST', '/api/companies', '{"name":"Tern & Co"}', ...at], env)
  assert.equal(company.code, 0, company.err)
  assert.match((await runCommand(t, ['company', 'list', ...at], env)).out, /Tern & Co/)
  assert.match((await runCommand(t, ['issue', 'create', 'Count', '--json', ...at], env)).out, /"title": "Count"/)
  assert.match((await runCommand(t, ['status', '--token', token, ...at])).out, /Tern & Co/)
  await runCommand(t, ['issue', 'comment', 'TER-1', 'By lunch, please.', ...at], env)
  // The activity shows the names of people, because there can be more than one.
  assert.match((await runCommand(t, ['issue', 'show', 'TER-1', ...at], env)).out, /^Olga {2}.*\nBy lunch, please\.$/m)
  assert.match((await runCommand(t, ['activity', 'list', ...at], env)).out, / Olga +issue commented /)
  assert.match((await runCommand(t, ['why', 'TER-1', ...at], env)).out, /Olga created TER-1 “Count”/)

  const limited = await runCommand(t, ['token', 'create', 'ci', '--expires', '2d', '--json', ...at], env)
  assert.equal(limited.code, 4, 'a token creates no token')
  const sessions = await runCommand(t, ['session', 'list', ...at], env)
  const sessionId = /(\w{8})\n$/.exec(sessions.out)![1]!
  assert.match(sessions.out, /^Browser +Signed in +Expires +Id\n/)
  const out = await runCommand(t, ['session', 'delete', sessionId, '--yes', ...at], env)
  assert.deepEqual([out.code, out.out, out.err], [0, 'Signed out.\n', ''])
  const ended = await fetch(`${server.url}/api/auth/session`, { headers: { cookie } })
  assert.equal(ended.status, 401)
  const none = await runCommand(t, ['session', 'delete', '--all', '--yes', ...at], env)
  assert.deepEqual([none.code, none.out], [0, 'Signed out.\n'])
  assert.equal((await runCommand(t, ['session', 'list', ...at], env)).out, 'You are signed in nowhere.\n')
  assert.equal((await runCommand(t, ['session', 'delete', '--yes', ...at], env)).code, 2)

  assert.equal((await runCommand(t, ['token', 'delete', id.slice(-8), '--yes', ...at], env)).code, 0)
  const refused = await runCommand(t, ['status', ...at], env)
  assert.equal(refused.code, 4)
  assert.match(refused.out, /is running at/)
  assert.match(refused.err, /unknown, revoked or expired/)
})

test('with --require-token a user who can read the data directory is the board, and other users are refused', async (t) => {
  const dataDir = temporaryFolder(t)
  const server = await startService(t, ['--data-dir', dataDir, '--require-token'])
  for (const file of ['server.json', 'keys/one-time.json']) {
    assert.equal(statSync(path.join(dataDir, file)).mode & 0o777, 0o600)
  }
  assert.equal(statSync(path.join(dataDir, 'keys')).mode & 0o777, 0o700)
  const { boardToken, resetKey } = readServerKeys(dataDir)
  assert.ok(!readFileSync(path.join(dataDir, 'server.json'), 'utf8').includes(boardToken!))
  assert.ok(boardToken!.length >= 43)
  assert.equal(resetKey, undefined)
  const made = await runCommand(t, ['api', 'POST', '/api/companies', '{"name":"Tern"}', '--data-dir', dataDir])
  assert.equal(made.code, 0, made.err)
  assert.match((await runCommand(t, ['status', '--data-dir', dataDir])).out, /Tern/)
  const outside = await runService(t, ['api', 'GET', '/api/companies', '--url', server.url])
  assert.equal(outside.code, 4)
  assert.match(outside.err, /run the command as its user, with the server's --data-dir/)
  const wrong = { SERVICE_API_KEY: `${boardToken}x` }
  assert.equal((await runCommand(t, ['api', 'GET', '/api/companies', '--data-dir', dataDir], wrong)).code, 4)
  const stopped = await runService(t, ['stop', '--json', '--data-dir', dataDir])
  assert.equal(JSON.parse(stopped.out).runsLeft, 0)
  assert.equal(readServerInfo(dataDir), undefined)
  assert.deepEqual(readServerKeys(dataDir), {})
  const { out, err } = await server.ended
  assert.ok(!out.includes(boardToken!) && !err.includes(boardToken!))
})

test('reset-password prints a link that sets a new password', async (t) => {
  const { dataDir, server } = await startWithOwner(t)
  const at = ['--data-dir', dataDir]
  const { code, out, err } = await runService(t, ['reset-password', EMAIL, ...at])
  assert.equal(code, 0, err)
  const [link = ''] = out.split('\n')
  assert.ok(link.startsWith(`${server.url}/reset?token=`), out)
  const token = new URL(link).searchParams.get('token')!
  const used = await submit(`${server.url}/reset`, { token, email: EMAIL, password: 'another password' })
  assert.equal(used.status, 303)
  const headers = { cookie: cookieOf(used.headers.get('set-cookie')) }
  assert.equal((await fetch(`${server.url}/api/auth/session`, { headers })).status, 200)
  const unknown = await runCommand(t, ['reset-password', 'eve@example.com', ...at])
  assert.deepEqual([unknown.code, unknown.err], [5, 'service: There is no account eve@example.com\n'])
  const key = readServerKeys(dataDir).resetKey!
  const board = await runCommand(t, ['api', 'GET', '/api/companies', ...at], { SERVICE_API_KEY: key })
  assert.equal(board.code, 4, 'the key makes links, and nothing else')
  server.child.kill('SIGTERM')
  const log = (await server.ended).err
  assert.match(log, /A password was reset with a link/)
  for (const secret of [token, key]) assert.ok(!log.includes(secret))
})

test('reset-password explains its errors: no running server, or a mode without people', async (t) => {
  const dataDir = temporaryFolder(t)
  const none = await runService(t, ['reset-password', EMAIL, '--data-dir', dataDir])
  assert.equal(none.code, 3)
  assert.match(
    none.err,
    /No server is running with the data directory .* `node .*service\.mjs start --mode authenticated`/,
  )
  await startService(t, ['--data-dir', dataDir])
  const local = await runCommand(t, ['reset-password', EMAIL, '--data-dir', dataDir])
  assert.equal(local.code, 2)
  assert.match(local.err, /has no accounts: it runs in local trusted mode/)
})
