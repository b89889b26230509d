import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { packageRoot } from '../../../src/platform/package-root.ts'
import { temporaryFolder } from '../../helpers.ts'
import { compileCache } from '../cli/service.ts'
import { startStub } from './stub.ts'

const PROGRAM = path.join(packageRoot(), 'src/clients/demo-agent/main.ts')

/** Runs the program as an adapter does. */
async function runAgent(args: string[], env: Record<string, string>, cwd: string) {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: { PATH: process.env.PATH, ...compileCache(), ...env },
    cwd,
  })
  child.stdin.end('You are an agent of a company. Do your work.')
  const [out, err, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((resolve) => child.on('exit', resolve)),
  ])
  return { out, err, code }
}

const PRINT = ['-p', '-', '--output-format', 'stream-json', '--verbose', '--session-id', 'S-1']

test('a heartbeat prints the protocol: first the session, one message per turn, and the total at the end', async (t) => {
  const stub = await startStub(t)
  const me = stub.add('agents', { name: 'Kit', role: 'engineer' })
  const issue = stub.add('issues', { title: 'Draw the curve', assigneeAgentId: me.id })
  const env = { SERVICE_API_URL: stub.url, SERVICE_API_KEY: me.id }
  const { out, err, code } = await runAgent([...PRINT, '--model', 'any'], env, temporaryFolder(t))
  assert.deepEqual([err, code, issue.status], ['', 0, 'done'])
  const lines = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual([lines[0].type, lines[0].subtype, lines[0].session_id], ['system', 'init', 'S-1'])
  const turns = lines.filter((line) => line.type === 'assistant').map((line) => line.message)
  assert.equal(new Set(turns.map((message) => message.id)).size, turns.length)
  const result = lines.at(-1)
  assert.deepEqual([result.type, result.subtype, result.is_error], ['result', 'success', false])
  assert.equal(
    result.usage.output_tokens,
    turns.reduce((sum, message) => sum + message.usage.output_tokens, 0),
  )
  assert.equal(result.modelUsage.demo.costUSD, result.total_cost_usd)
  assert.ok(result.total_cost_usd > 0.005 && result.total_cost_usd < 0.1, `it costs ${result.total_cost_usd} dollars`)
})

test('a run that the service refuses fails with the reason', async (t) => {
  const stub = await startStub(t)
  const { out, code } = await runAgent(
    PRINT,
    { SERVICE_API_URL: stub.url, SERVICE_API_KEY: 'wrong' },
    temporaryFolder(t),
  )
  const result = JSON.parse(out.trimEnd().split('\n').at(-1)!)
  assert.deepEqual([code, result.is_error, result.errors], [1, true, ['Who are you?']])
})

test('the help lists the flags, so that an adapter can probe them', async (t) => {
  const { out, code } = await runAgent(['--help'], {}, temporaryFolder(t))
  assert.equal(code, 0)
  for (const flag of ['--session-id', '--resume', '--append-system-prompt-file']) assert.ok(out.includes(flag), flag)
})
