import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { identityOf, markedProcesses } from '../../../src/runtime/process/process-table.ts'
import { exitFile, factsFile } from '../../../src/runtime/process/run-files.ts'
import { stopRun } from '../../../src/runtime/process/stop.ts'
import { logOf, logShows, runFolder, SHIM, specOf, start } from './runs.ts'

test('a command that succeeds returns its exit code, and its output is in the log', async (t) => {
  const run = await start(t, specOf('succeed'))
  const { startedAt, finishedAt, ...end } = await run.ended
  assert.deepEqual(end, {
    exitCode: 0,
    signal: null,
    reason: 'exited',
    strays: 0,
    left: 0,
    bytes: { stdout: 5, stderr: 0 },
    lastError: null,
  })
  assert.ok(startedAt && startedAt <= finishedAt)
  assert.equal(logOf(run.runDir), 'done\n')
})

test('a command that fails returns its exit code and its standard error', async (t) => {
  const run = await start(t, specOf('fail'))
  assert.equal((await run.ended).exitCode, 3)
  assert.equal(logOf(run.runDir), 'no luck\n')
})

test('a missing command ends the run with the system error code and a clear message', async (t) => {
  const run = await start(t, specOf('succeed', [], { command: 'no-such-program' }))
  const end = await run.ended
  assert.equal(end.reason, 'spawn_failed')
  assert.deepEqual(end.error, { code: 'ENOENT', message: 'The program no-such-program was not found.' })
})

test('the error for a missing working directory names it', async (t) => {
  const run = await start(t, specOf('succeed', [], { cwd: '/no/such/folder' }))
  assert.match((await run.ended).error?.message ?? '', /working directory \/no\/such\/folder does not exist/)
})

test('arguments that the system refuses end the run, not the shim', async (t) => {
  const run = await start(t, specOf('succeed', ['x'.repeat(3_000_000)]))
  const end = await run.ended
  assert.equal(end.reason, 'spawn_failed')
  assert.equal(end.error?.code, 'E2BIG')
})

test('a shim that cannot start throws an error to the caller', async (t) => {
  const { spawnRun } = await import('../../../src/runtime/process/process.ts')
  const spec = specOf('succeed')
  const runDir = runFolder(t, spec.runId)
  await assert.rejects(spawnRun(spec, { shim: ['/no/such/shim'], runDir, onFacts() {} }), { code: 'ENOENT' })
})

test('the command gets exactly its environment, the marker of the run, its folder and a normal umask', async (t) => {
  const spec = specOf('echo-env', [], { env: { ONLY: 'this' }, cwd: path.resolve('test') })
  const run = await start(t, spec)
  await run.ended
  const { env, cwd, umask } = JSON.parse(logOf(run.runDir))
  assert.deepEqual(env, { ONLY: 'this', SERVICE_RUN_ID: spec.runId })
  assert.equal(cwd, path.resolve('test'))
  assert.equal(umask, 0o022)
})

test('only the owner can read the files of a run', async (t) => {
  const run = await start(t, specOf('succeed'))
  await run.ended
  for (const file of [exitFile(run.runDir), factsFile(run.runDir), path.join(run.runDir, 'log', 'head')]) {
    assert.equal(statSync(file).mode & 0o777, 0o600, file)
  }
})

test('the command gets the complete prompt on standard input', async (t) => {
  const prompt = 'Do this: é\n'.repeat(50_000)
  const run = await start(t, specOf('reads-stdin', [], { stdin: prompt, logCap: 8 * 1024 * 1024 }))
  assert.equal((await run.ended).exitCode, 0)
  assert.equal(logOf(run.runDir), prompt)
})

test('a command that does not read its prompt keeps its exit status', async (t) => {
  const run = await start(t, specOf('fail', [], { stdin: 'x'.repeat(5_000_000) }))
  const end = await run.ended
  assert.deepEqual([end.reason, end.exitCode], ['exited', 3])
})

test('the time limit stops a command that hangs', async (t) => {
  const run = await start(t, specOf('hang', [], { timeoutSec: 0.5 }))
  const end = await run.ended
  assert.deepEqual([end.reason, end.signal], ['timed_out', 'SIGTERM'])
})

test('the silence limit stops a command without output', async (t) => {
  const run = await start(t, specOf('hang', [], { silenceSec: 0.5 }))
  assert.equal((await run.ended).reason, 'silent')
})

test('the silence limit starts again with each output, including incomplete lines', async (t) => {
  const run = await start(t, specOf('slow-lines', [], { silenceSec: 0.9 }))
  const end = await run.ended
  assert.deepEqual([end.reason, end.exitCode], ['exited', 7])
  assert.equal(logOf(run.runDir), 'one piece at a time\n')
})

test('a command that handles SIGTERM stops immediately', async (t) => {
  const run = await start(t, specOf('chatty'))
  await logShows(run.runDir, 'err 3')
  const began = performance.now()
  assert.deepEqual(await stopRun(run, 10), [])
  assert.ok(performance.now() - began < 2_000)
  const end = await run.ended
  assert.deepEqual([end.reason, end.signal], ['stopped', 'SIGTERM'])
  const lines = logOf(run.runDir).split('\n')
  for (const stream of ['out', 'err']) {
    const printed = lines.filter((line) => line.startsWith(stream)).slice(0, 3)
    assert.deepEqual(
      printed,
      [1, 2, 3].map((count) => `${stream} ${count}`),
    )
  }
})

test('a command that ignores SIGTERM is killed within the grace period and two seconds', async (t) => {
  const run = await start(t, specOf('ignore-sigterm'))
  await logShows(run.runDir, 'deaf')
  const began = performance.now()
  assert.deepEqual(await stopRun(run, 1), [])
  const took = performance.now() - began
  assert.ok(took >= 1_000 && took < 3_000, `${took} ms`)
  const end = await run.ended
  assert.deepEqual([end.reason, end.signal], ['stopped', 'SIGKILL'])
})

test('a stop of an ended run is a no-op', async (t) => {
  const run = await start(t, specOf('succeed'))
  await run.ended
  assert.deepEqual(await stopRun(run, 10), [])
})

test('a grandchild that ignores signals in its own session is killed after its parent exits normally', async (t) => {
  const run = await start(t, specOf('fork-and-leave'))
  const end = await run.ended
  assert.deepEqual([end.reason, end.exitCode, end.strays], ['exited', 0, 1])
  assert.equal(markedProcesses().has(run.runId), false)
})

test('a child in the group that ignores signals and has no marker is also killed', async (t) => {
  const run = await start(t, specOf('forked-group'))
  assert.equal((await run.ended).strays, 1)
})

test('a command and its grandchild that ignore signals are killed within the grace period and two seconds of a stop', async (t) => {
  const run = await start(t, specOf('fork-and-leave', ['stay']))
  await logShows(run.runDir, 'left one')
  const began = performance.now()
  assert.deepEqual(await stopRun(run, 1), [])
  assert.ok(performance.now() - began < 3_000)
  assert.equal(markedProcesses().has(run.runId), false)
  assert.equal((await run.ended).strays, 1)
})

test('a command that signals its own group is not recorded as stopped', async (t) => {
  const run = await start(t, specOf('signals-group'))
  const end = await run.ended
  assert.deepEqual([end.reason, end.exitCode], ['exited', 5])
  assert.equal(logOf(run.runDir), 'survived\n')
})

test('a shim that does not respond is killed with its group after the grace period', async (t) => {
  const run = await start(t, specOf('ignore-sigterm'))
  await logShows(run.runDir, 'deaf')
  process.kill(run.identity!.pid, 'SIGSTOP')
  const began = performance.now()
  assert.deepEqual(await stopRun(run, 0.5), [])
  assert.ok(performance.now() - began < 2_500)
  assert.equal((await run.ended).reason, 'stopped')
})

test('killing a shim makes its run lost and leaves no process', async (t) => {
  const run = await start(t, specOf('fork-and-leave', ['stay']))
  await logShows(run.runDir, 'left one')
  process.kill(run.identity!.pid, 'SIGKILL')
  assert.equal((await run.ended).reason, 'lost')
  assert.equal(markedProcesses().has(run.runId), false)
})

test('a shim with an incomplete specification starts nothing', async (t) => {
  const spec = specOf('succeed')
  const runDir = runFolder(t, spec.runId)
  const [program, ...args] = SHIM
  const shim = spawn(program, [...args, runDir, spec.runId], { stdio: ['pipe', 'ignore', 'inherit'] })
  shim.stdin.end(JSON.stringify(spec).slice(0, -1))
  assert.deepEqual(await once(shim, 'exit'), [0, null])
  assert.equal(existsSync(exitFile(runDir)), false)
})

test('process arguments and files of the run contain no secret', async (t) => {
  const spec = specOf('hang', [], { env: { TOKEN: 'top-secret-token' }, redact: ['top-secret-token'] })
  const run = await start(t, spec)
  await logShows(run.runDir, 'working')
  const { execFileSync } = await import('node:child_process')
  assert.doesNotMatch(execFileSync('ps', ['-ax', '-o', 'args='], { encoding: 'utf8' }), /top-secret-token/)
  assert.throws(() => execFileSync('grep', ['-rl', 'top-secret-token', run.runDir]), { status: 1 })
  await stopRun(run, 1)
})

test('the recorded identity is that of the shim', async (t) => {
  const run = await start(t, specOf('hang'))
  assert.deepEqual(run.identity, identityOf(run.identity!.pid))
  await stopRun(run, 1)
})
