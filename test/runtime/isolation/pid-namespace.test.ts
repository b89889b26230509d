import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { findPidNamespace } from '../../../src/runtime/isolation/pid-namespace.ts'
import { markedProcesses } from '../../../src/runtime/process/process-table.ts'
import type { RunSpec } from '../../../src/runtime/process/run-files.ts'
import { stopRun } from '../../../src/runtime/process/stop.ts'
import { logOf, logShows, specOf, start } from '../process/runs.ts'

const wrapper = await findPidNamespace()
const skip = wrapper ? false : 'This machine offers no PID namespace without root.'
const isolated = (agent: string, args: string[] = [], changes: Partial<RunSpec> = {}) =>
  specOf(agent, args, { wrapper: wrapper ?? [], ...changes })

/** Reports whether a process of the machine has this argument. */
const isAnyWith = (argument: string) =>
  execFileSync('ps', ['-ax', '-o', 'args='], { encoding: 'utf8' }).includes(argument)

test('a process that left the session, cleared its environment and lost its parent ends with its run', {
  skip,
}, async (t) => {
  const tag = randomUUID()
  const run = await start(t, isolated('escapes', [tag]))
  const end = await run.ended
  assert.match(logOf(run.runDir), /left one/)
  assert.deepEqual([end.reason, end.exitCode, end.strays, end.left], ['exited', 0, 1, 0])
  assert.equal(isAnyWith(tag), false)
})

test('a stop ends escaped processes within the grace period and two seconds', { skip }, async (t) => {
  const tag = randomUUID()
  const run = await start(t, isolated('escapes', [tag, 'stay']))
  await logShows(run.runDir, 'left one')
  const began = performance.now()
  assert.deepEqual(await stopRun(run, 1), [])
  assert.ok(performance.now() - began < 3_000)
  const end = await run.ended
  assert.deepEqual([end.reason, end.signal, end.strays], ['stopped', 'SIGKILL', 1])
  assert.equal(isAnyWith(tag), false)
})

test('escaped processes end if the shim is killed', { skip }, async (t) => {
  const tag = randomUUID()
  const run = await start(t, isolated('escapes', [tag, 'stay']))
  await logShows(run.runDir, 'left one')
  process.kill(run.identity!.pid, 'SIGKILL')
  assert.equal((await run.ended).reason, 'lost')
  assert.equal(isAnyWith(tag), false)
})

test('a command has the same exit status in a namespace as without one', { skip }, async (t) => {
  const spec = (script: string, changes: Partial<RunSpec> = {}) =>
    isolated('succeed', [], { command: '/bin/sh', args: ['-c', script], env: { PATH: '/usr/bin:/bin' }, ...changes })
  const endOf = async (one: RunSpec) => {
    const { reason, exitCode, signal, strays, error, lastError } = await (await start(t, one)).ended
    return { reason, exitCode, signal, strays, error, lastError }
  }
  const scripts = [
    'exit 0',
    'exit 3',
    'exit 143',
    'kill -TERM $$',
    'kill -KILL $$',
    'kill -SEGV $$',
    'echo no >&2; exit 1',
  ]
  for (const script of scripts) {
    const [inside, outside] = await Promise.all([endOf(spec(script)), endOf(spec(script, { wrapper: [] }))])
    assert.deepEqual(inside, outside, script)
  }
  for (const change of [{ command: 'no-such-program' }, { command: '/etc/hostname' }, { cwd: '/no/such/folder' }]) {
    const [inside, outside] = await Promise.all([endOf(spec('', change)), endOf(spec('', { ...change, wrapper: [] }))])
    assert.deepEqual(inside, outside, JSON.stringify(change))
  }
})

test('a command in a namespace gets SIGTERM once and has its grace period to finish', { skip }, async (t) => {
  const script = `trap 'echo heard; sleep 0.5; echo finished; exit 7' TERM; echo ready; while :; do sleep 0.1; done`
  const run = await start(t, isolated('succeed', [], { command: '/bin/sh', args: ['-c', script] }))
  await logShows(run.runDir, 'ready')
  await stopRun(run, 10)
  const end = await run.ended
  assert.deepEqual([end.reason, end.exitCode], ['stopped', 7])
  assert.match(logOf(run.runDir), /heard\nfinished\n$/)
})

/** A shell command that prints the properties of its environment. */
const LOOK =
  'id -un 2>/dev/null; id -u; id -g; pwd; umask; echo "$HOME"; ulimit -n; grep -E "^(SigBlk|SigIgn|CapEff|CapAmb|NoNewPrivs)" /proc/self/status; ls /proc/self/fd'

test('a command in a namespace has the same user, folder, limits, signals and capabilities, and sees only its own processes', {
  skip,
}, async (t) => {
  const look = async (changes: Partial<RunSpec>) => {
    const env = { PATH: process.env.PATH ?? '', HOME: '/nowhere' }
    const spec = isolated('succeed', [], {
      command: '/bin/sh',
      args: ['-c', LOOK],
      cwd: path.resolve('test'),
      env,
      ...changes,
    })
    const run = await start(t, spec)
    await run.ended
    return logOf(run.runDir)
  }
  assert.equal(await look({}), await look({ wrapper: [] }))
  const seen = (await look({ args: ['-c', 'ls /proc'] })).split('\n').filter((name) => /^\d+$/.test(name))
  assert.ok(seen.length <= 3, seen.join(' '))
})

test('the first process of a namespace belongs to the run and ends with it', { skip }, async (t) => {
  const run = await start(t, isolated('hang'))
  await logShows(run.runDir, 'working')
  assert.ok(markedProcesses().get(run.runId)!.length >= 3)
  await stopRun(run, 1)
  assert.equal(markedProcesses().has(run.runId), false)
})

test('the first process of a namespace has no secret of the environment', { skip }, async (t) => {
  const run = await start(t, isolated('hang', [], { env: { STRIPE_KEY: 'x9-hunter2-zebra' } }))
  await logShows(run.runDir, 'working')
  const others = markedProcesses()
    .get(run.runId)!
    .filter(({ pid }) => !readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('hang'))
  assert.ok(others.some(({ pid }) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('sleep')))
  for (const { pid } of others)
    assert.doesNotMatch(readFileSync(`/proc/${pid}/environ`, 'utf8'), /hunter2/, String(pid))
  await stopRun(run, 1)
})

test('a command that signals its own group has its own exit status', { skip }, async (t) => {
  const run = await start(t, isolated('signals-group'))
  const end = await run.ended
  assert.deepEqual([end.reason, end.exitCode, logOf(run.runDir)], ['exited', 5, 'survived\n'])
})

test('the command gets exactly its environment', { skip }, async (t) => {
  const spec = isolated('echo-env', [], { env: { ONLY: 'this' }, cwd: path.resolve('test') })
  const run = await start(t, spec)
  await run.ended
  const { env, cwd } = JSON.parse(logOf(run.runDir))
  assert.deepEqual(env, { ONLY: 'this', SERVICE_RUN_ID: spec.runId })
  assert.equal(cwd, path.resolve('test'))
})
