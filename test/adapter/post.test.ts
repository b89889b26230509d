import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Fact } from '../../src/adapter/adapter.ts'
import type { PostJob } from '../../src/adapter/post.ts'
import { readerOf } from '../../src/adapter/readers.ts'

const PROGRAM = fileURLToPath(new URL('../../src/adapter/post.ts', import.meta.url))

async function listen(t: TestContext, reply: RequestListener): Promise<string> {
  const server = createServer(reply).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/wake`
}

/** Runs the program with a job, and reads its output like the output of a run. */
async function post(job: Partial<PostJob> & { url: string }) {
  const child = spawn(process.execPath, [PROGRAM])
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk) => {
    output.stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    output.stderr += chunk
  })
  child.stdin.end(JSON.stringify({ headers: {}, body: {}, timeoutSec: 5, ...job }))
  const [exitCode] = await once(child, 'close')
  const reader = readerOf('http', {}, { session: null, newSessionId: 'x' })
  const facts: Fact[] = [
    ...output.stdout.split('\n').flatMap((line) => reader.line(line)),
    ...output.stderr.split('\n').flatMap((line) => reader.errorLine(line)),
  ]
  const [outcome] = facts.filter((fact) => fact.kind === 'outcome')
  return { exitCode, outcome, ...output }
}

describe('the POST program', () => {
  test('sends the body and the headers, and succeeds on a 2xx response', async (t) => {
    let got: unknown
    const url = await listen(t, async (request, response) => {
      const body = (await request.toArray()).join('')
      got = [request.method, request.headers['x-key'], request.headers['content-type'], JSON.parse(body)]
      response.writeHead(202).end('accepted')
    })
    const { exitCode, outcome, stdout } = await post({ url, headers: { 'x-key': 'k' }, body: { runId: 'r' } })
    assert.deepEqual(got, ['POST', 'k', 'application/json', { runId: 'r' }])
    assert.deepEqual([exitCode, outcome?.ok, stdout], [0, true, 'HTTP 202\naccepted\n'])
  })

  test('fails on a 500 response', async (t) => {
    const url = await listen(t, (_, response) => response.writeHead(500).end('broken\nHTTP 200'))
    const { exitCode, outcome } = await post({ url })
    assert.deepEqual([exitCode, outcome?.ok, outcome?.code], [1, false, 'http_500'])
  })

  test('fails on a redirect and does not follow it', async (t) => {
    let calls = 0
    const url = await listen(t, (_, response) => {
      calls++
      response.writeHead(307, { location: '/elsewhere' }).end()
    })
    const { exitCode, outcome } = await post({ url })
    assert.deepEqual([exitCode, outcome?.code, calls], [1, 'http_307', 1])
  })

  test('fails with an explanation if the connection is refused', async () => {
    const { exitCode, outcome } = await post({ url: 'http://127.0.0.1:1/' })
    assert.equal(exitCode, 1)
    assert.match(outcome?.message ?? '', /cannot be reached|bad port/)
  })

  test('fails on a timeout', async (t) => {
    const url = await listen(t, () => {})
    const { exitCode, outcome } = await post({ url, timeoutSec: 0.2 })
    assert.deepEqual([exitCode, outcome?.message], [1, 'The URL did not respond within the time limit (timeoutSec).'])
  })

  test('fails on a timeout while the response body arrives', async (t) => {
    const url = await listen(t, (_, response) => {
      const timer = setInterval(() => response.write('more\n'), 20)
      response.on('close', () => clearInterval(timer))
    })
    const { exitCode, stderr } = await post({ url, timeoutSec: 0.5 })
    assert.equal(exitCode, 1)
    assert.match(stderr, /did not respond within the time limit/)
  })

  test('sends no header to another host that a redirect names', async (t) => {
    let reached = 0
    const other = await listen(t, (_, response) => {
      reached++
      response.end()
    })
    const url = await listen(t, (_, response) => response.writeHead(302, { location: other }).end())
    const { outcome } = await post({ url, headers: { 'x-service-api-key': 'k' } })
    assert.deepEqual([outcome?.code, reached], ['http_302', 0])
  })

  test('truncates a long response', async (t) => {
    const url = await listen(t, (_, response) => response.end('x'.repeat(1_000_000)))
    const { exitCode, stdout } = await post({ url })
    assert.equal(exitCode, 0)
    assert.ok(stdout.length < 70_000 && stdout.endsWith('[cut]\n'))
  })
})
