import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startTestServer } from '../../server.ts'

const run = promisify(execFile)

test('the curl commands of the onboarding text create an agent that completes its issue', async (t) => {
  const { server } = await startTestServer(t)
  // biome-ignore lint/suspicious/noExplicitAny: the tests read arbitrary fields of responses.
  const make = async (method: string, path: string, body: object = {}): Promise<any> => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${server.url}${path}`, { method, headers, body: JSON.stringify(body) })
    assert.ok(response.ok, `${path}: ${response.status}`)
    return response.json()
  }
  const company = await make('POST', '/api/companies', { name: "Tern's & Co" })
  const { onboardingTextUrl } = await make('POST', `/api/companies/${company.id}/gateway/invite-prompt`, {
    agentMessage: "Don't run this:\n```sh\nexit 1\n```",
  })
  const text = await (await fetch(onboardingTextUrl)).text()
  const commands = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, command]) => command!)
  assert.equal(commands.length, 8)

  const env: Record<string, string> = { PATH: process.env.PATH!, SERVICE_API_URL: server.url }
  const next = async () => {
    const { stdout } = await run('sh', ['-c', commands.shift()!], { env })
    return JSON.parse(stdout)
  }
  const accepted = await next()
  env.CLAIM_SECRET = accepted.claimSecret
  await make('POST', `/api/approvals/${accepted.approvalId}/approve`)
  const claimed = await next()
  env.SERVICE_API_KEY = claimed.token
  assert.equal((await next()).id, accepted.agentId)
  const issue = await make('POST', `/api/companies/${company.id}/issues`, {
    title: 'Say hello',
    assigneeAgentId: accepted.agentId,
  })
  const [item] = await next()
  assert.equal(item.id, issue.id)
  env.ISSUE = item.identifier
  assert.equal((await next()).status, 'in_progress')
  assert.equal((await next()).issue.id, issue.id)
  assert.equal((await next()).body, 'I have begun.')
  assert.equal((await next()).status, 'done')
})
