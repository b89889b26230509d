import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { createFoundedApp } from '../access/auth/founder.ts'
import { PASSWORD } from '../access/auth/people.ts'
import { makeAgent } from '../make.ts'
import { createTestRunsIn } from '../runs.ts'
import { searchArguments } from './argv.ts'

test('a run with a secret of every kind that prints all its data leaks none in arguments, log or record', async (t) => {
  const { app, board } = await createFoundedApp(t)
  const home = createServer().listen(0, '127.0.0.1')
  t.after(() => home.close())
  const runs = await createTestRunsIn(board)
  const { make, companyId, canaries } = runs
  const at = `/api/companies/${companyId}`
  canaries.notice('link token', app.ctx.signIn.setup!.token!)
  await app.request('POST', '/api/auth/sign-in', { email: 'olga@example.com', password: PASSWORD })
  await make('POST', '/api/board/tokens')
  await make('POST', `${at}/invitations`)
  const invite = await make('POST', `${at}/gateway/invite-prompt`)
  await make('POST', `/api/invites/${invite.token}/accept`, { name: 'Nia' })
  await make('POST', `${at}/secrets`, { name: 'KEY', value: 'the secret of/the company+1' })
  const project = await make('POST', `${at}/projects`, {
    name: 'Map',
    env: { PROJECT_TOKEN: 'the token of/the project+2' },
  })
  await makeAgent(runs, companyId, { metadata: { apiKey: 'the key in/the metadata+3' } })
  const agent = await runs.agentThat('calls-home.js', {
    args: [String((home.address() as { port: number }).port)],
    config: { env: { GIVEN_TOKEN: 'the token of/the agent+4', KEY: { $secret: 'KEY' } } },
  })
  await make('POST', `/api/agents/${agent}/keys`, {})

  await make('POST', `${at}/issues`, { title: 'Draw', projectId: project.id, assigneeAgentId: agent })
  const called = once(home, 'connection')
  await runs.tick()
  const [caller] = (await called) as [Socket]
  const [run] = await runs.runs()
  assert.ok(searchArguments(canaries, run.id) >= 2, 'there is a shim and a command')
  caller.destroy()
  await runs.runUntilIdle()

  assert.equal((await runs.runs())[0].status, 'succeeded')
  const { body } = await runs.request('GET', `/api/runs/${run.id}/log`)
  for (const name of ['SERVICE_API_KEY', 'GIVEN_TOKEN', 'PROJECT_TOKEN', 'KEY']) {
    assert.match(body.text, new RegExp(`^${name}=<\\[redacted\\]>`, 'm'))
  }
  assert.deepEqual(canaries.kinds(), [
    'agent key',
    'board token',
    'claim secret',
    'company secret',
    'env value',
    'key file',
    'link token',
    'metadata secret',
    'password',
    'run token',
    'session',
  ])
})
