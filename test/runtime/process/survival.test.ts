import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import { createClient } from '../../../src/clients/connection/client.ts'
import { identityOf, markedProcesses } from '../../../src/runtime/process/process-table.ts'
import { runService, type ServerUnderTest, startService } from '../../clients/cli/service.ts'
import { temporaryFolder } from '../../helpers.ts'
import { agentProgram, killIfLive, until } from './runs.ts'

interface Run {
  id: string
  status: string
  exitCode: number | null
  errorCode: string | null
  retryOfRunId: string | null
  processPid: number | null
}

/** Starts a real server with one agent and a long run, and kills the remaining processes after the test. */
async function arrange(t: TestContext, ms: number, code = 0) {
  const dataDir = temporaryFolder(t)
  const notes = path.join(dataDir, 'notes')
  mkdirSync(notes)
  const start = () => startService(t, ['--data-dir', dataDir])
  const server = await start()
  const api = createClient(server)
  const company = await api.request('POST /api/companies', { body: { name: 'Acme' } })
  const agent = await api.request('POST /api/companies/:companyId/agents', {
    params: { companyId: company.id },
    body: {
      name: 'Ada',
      adapterType: 'process',
      adapterConfig: {
        command: process.execPath,
        args: [agentProgram('takes-a-while'), String(ms), notes, String(code)],
        graceSec: 1,
      },
    },
  })
  await api.request('POST /api/agents/:agentId/heartbeat/invoke', { params: { agentId: agent.id } })
  const own = new Set<string>()
  const noted = (name: string) => {
    const files = readdirSync(notes).filter((file) => file.endsWith(`.${name}`))
    for (const file of files) own.add(file.split('.')[0]!)
    return files
  }
  await until(() => noted('begun').length > 0, 'the run to begin', 60_000)
  const runId = noted('begun')[0]!.split('.')[0]!
  t.after(() => {
    for (const [id, all] of markedProcesses()) {
      if (own.has(id)) for (const { pid } of all) killIfLive(pid)
    }
  })
  const runs = async (by: ServerUnderTest): Promise<Run[]> =>
    (
      await createClient(by).request('GET /api/companies/:companyId/runs', { params: { companyId: company.id } })
    ).toReversed()
  // Finds the process by its arguments: the program knows only its pid inside its own namespace.
  const isAlive = () => execFileSync('ps', ['-ax', '-o', 'args='], { encoding: 'utf8' }).includes(notes)
  return { server, start, dataDir, api, company, agent, runId, noted, runs, isAlive }
}

async function kill(server: ServerUnderTest) {
  process.kill(server.pid, 'SIGKILL')
  await server.ended
}

/** Waits until the server reports that the first run has ended. */
async function ended(runs: () => Promise<Run[]>): Promise<Run[]> {
  for (const deadline = Date.now() + 60_000; ; await new Promise((resolve) => setTimeout(resolve, 50))) {
    const all = await runs()
    if (all.length > 0 && !['starting', 'running'].includes(all[0]!.status)) return all
    assert.ok(Date.now() < deadline, 'waited in vain for the end of the run')
  }
}

/** Changes the database of a killed server. SQLite removes the write-ahead log here, as after a clean close. */
function change(dataDir: string, sql: string) {
  const sqlite = new Database(path.join(dataDir, 'service.db'))
  sqlite.exec(sql)
  sqlite.close()
  rmSync(path.join(dataDir, 'service.db-open'))
}

test('a run continues after its server is killed, and the next server adopts it and records its exit', async (t) => {
  const { server, start, noted, runs, runId, isAlive } = await arrange(t, 4_000, 7)
  await kill(server)
  assert.ok(isAlive(), 'the run goes on')
  const next = await start()
  const [run] = await ended(() => runs(next))
  assert.deepEqual([run?.id, run?.status, run?.exitCode], [runId, 'failed', 7])
  assert.equal(noted('begun').length, 1, 'it ran once')
})

test('a run that ended without a server is recorded with its real result', async (t) => {
  const { server, start, noted, runs } = await arrange(t, 300)
  await kill(server)
  await until(() => noted('ended').length > 0, 'the end of the run', 60_000)
  const next = await start()
  const [run, second] = await ended(() => runs(next))
  assert.deepEqual([run?.status, run?.exitCode, second], ['succeeded', 0, undefined])
})

test('a run without a recorded pid is found by its marker', async (t) => {
  const { server, start, dataDir, noted, runs } = await arrange(t, 4_000)
  await kill(server)
  change(
    dataDir,
    "update run set pid = null, pid_started = null, boot_id = null, status = 'starting', started_at = null",
  )
  const next = await start()
  const [run] = await ended(() => runs(next))
  assert.deepEqual([run?.status, run?.exitCode, noted('begun').length], ['succeeded', 0, 1])
})

test('a run from before a reboot is lost and retried once, and the process that now has its pid is not signalled', async (t) => {
  const { server, start, dataDir, noted, runs, runId } = await arrange(t, 60_000)
  const bystander = await startService(t, ['--data-dir', temporaryFolder(t)])
  const [{ processPid }] = (await runs(server)) as [Run]
  await kill(server)
  process.kill(-processPid!, 'SIGKILL')
  await until(() => !markedProcesses().has(runId), 'the end of the run, and of its shim', 60_000)
  const identity = identityOf(bystander.pid)
  assert.ok(identity)
  change(
    dataDir,
    `update run set pid = ${bystander.pid}, pid_started = '${identity.startTime}', boot_id = 'the boot before'`,
  )
  const next = await start()
  await until(() => noted('begun').length === 2, 'the second try', 60_000)
  const [first, second] = await runs(next)
  assert.deepEqual([first?.status, first?.errorCode, second?.retryOfRunId], ['lost', 'lost', runId])
  assert.equal((await fetch(`${bystander.url}/api/health`)).status, 200, 'nobody signalled it')
  await createClient(next).request('POST /api/instance/freeze')
})

test('a server that is stopped leaves its runs to the next server', async (t) => {
  const { server, start, dataDir, noted, runs, isAlive } = await arrange(t, 5_000)
  const { code, out } = await runService(t, ['stop', '--data-dir', dataDir])
  assert.equal(code, 0)
  assert.match(out, /One run continues; the next start adopts it/)
  assert.equal((await server.ended).code, 0)
  assert.ok(isAlive())
  const next = await start()
  const [run] = await ended(() => runs(next))
  assert.deepEqual([run?.status, run?.exitCode, noted('begun').length], ['succeeded', 0, 1])
})

for (const [how, stop] of Object.entries<(t: TestContext, server: ServerUnderTest, dataDir: string) => unknown>({
  'Ctrl-C': (_, server) => process.kill(server.pid, 'SIGINT'),
  'service stop --runs': (t, _, dataDir) => runService(t, ['stop', '--runs', '--data-dir', dataDir]),
})) {
  test(`${how} also stops the runs, and the next start retries them`, async (t) => {
    const { server, start, dataDir, noted, runs, runId } = await arrange(t, 60_000)
    await stop(t, server, dataDir)
    const { code, err } = await server.ended
    assert.equal(code, 0, err)
    assert.match(err, /Stopping; 1 run has to end/)
    assert.equal(markedProcesses().has(runId), false)
    const next = await start()
    await until(() => noted('begun').length === 2, 'the run to begin again', 60_000)
    const [first, second] = await runs(next)
    assert.deepEqual([first?.status, first?.errorCode, second?.retryOfRunId], ['cancelled', 'shutdown', runId])
    const frozen = await runService(t, ['freeze', '--data-dir', dataDir, '--json'])
    assert.equal(JSON.parse(frozen.out).liveRuns, 0)
    assert.equal(markedProcesses().has(second!.id), false)
  })
}

test('a freeze persists over a restart, and a thaw starts the waiting runs', async (t) => {
  const { server, start, dataDir, api, agent, runs, noted } = await arrange(t, 200)
  await ended(() => runs(server))
  const frozen = await runService(t, ['freeze', '--data-dir', dataDir, '--reason', 'The bill'])
  assert.match(frozen.out, /All runs are frozen\. No run was live\./)
  await api.request('POST /api/agents/:agentId/heartbeat/invoke', { params: { agentId: agent.id } })
  await kill(server)
  const next = await start()
  const displayed = await createClient(next).request('GET /api/instance')
  assert.deepEqual([displayed.isFrozen, displayed.frozenBecause, displayed.waitingWakes], [true, 'The bill', 1])
  assert.equal((await runs(next)).length, 1)
  assert.match(
    (await runService(t, ['thaw', '--data-dir', dataDir])).out,
    /^The freeze has ended\. One waiting run can start now/,
  )
  await until(() => noted('ended').length === 2, 'the second run', 60_000)
})
