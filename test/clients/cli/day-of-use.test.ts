import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { readConfig } from '../../../src/platform/config.ts'
import { temporaryFolder } from '../../helpers.ts'
import { runCommand, withCommands } from './in-process.ts'

const AGENTS = path.join(import.meta.dirname, '../../agents')

test('a question is answered by the labels of its options, and an issue without one says so', async (t) => {
  const { out, run } = await withCommands(t)
  await out('company', 'create', 'Walrus')
  await out('issue', 'create', 'Draw')
  const none = await run('issue', 'answer', 'wal-1', 'x')
  assert.deepEqual([none.code, none.err], [5, 'service: WAL-1 has no pending question.\n'])
  await out('issue', 'ask', 'WAL-1', 'Which?', '--kind', 'choose', '--options', 'SVG,PNG')
  assert.match(await out('issue', 'answer', 'WAL-1', '--select', 'png'), /^The question is answered: Which\?/)
  assert.match(await out('issue', 'view', 'WAL-1'), /PNG/)
})

test('`latest` is the latest approval that can be decided, and each text names what it is about', async (t) => {
  const { out, run, json } = await withCommands(t)
  await out('company', 'create', 'Walrus')
  await out('agent', 'create', 'Ada', '--role', 'ceo', '--adapter', 'none')
  await out('issue', 'create', 'Draw')
  assert.match(await out('approval', 'list'), /^No approval is pending\./)
  assert.match(await out('approval', 'list', '--status', 'all'), /^There are no approvals yet\./)
  assert.equal(await out('approval', 'list', '--status', 'rejected'), 'There are no such approvals.\n')
  const options = ['--options', 'Yes,No', '--agent', 'Ada', '--issues', 'WAL-1']
  await out('approval', 'create', 'First?', ...options, '--recommended', 'Yes')
  await out('approval', 'create', 'Second?', ...options)
  assert.match(await out('inbox', 'list'), /approval +First\? +Linked to WAL-1/)
  assert.match(await out('approval', 'view', 'latest'), /^Issues +WAL-1$/m)
  assert.equal(await out('approval', 'reject', 'latest'), 'The request "Second?" is rejected.\n')
  assert.equal(await out('approval', 'approve', 'latest'), 'The request "First?" is approved: Yes.\n')
  const none = await run('approval', 'approve', 'latest')
  assert.deepEqual([none.code, none.err], [5, 'service: No approval is pending.\n'])
  await out(
    'api',
    'PATCH',
    `/api/companies/${(await json('company', 'view')).id}`,
    '-F',
    'requireBoardApprovalForNewAgents=true',
  )
  await out('agent', 'hire', 'Nora', '--role', 'researcher')
  assert.match(await out('inbox', 'list'), /approval +Hire Nora, researcher /)
  assert.equal(await out('approval', 'approve', 'latest'), 'The hire of Nora is approved.\n')
})

test('an error about an entry of a list names the option only, and an issue shows its sub-issues', async (t) => {
  const { out, run } = await withCommands(t)
  await out('company', 'create', 'Walrus')
  await out('issue', 'create', 'Draw')
  await out('issue', 'create', 'Ink', '--parent', 'WAL-1', '--assignee', '@me')
  assert.match(await out('issue', 'view', 'WAL-1'), /\n\nSub-issues\nWAL-2 +Ink +todo +the board\n$/)
  await out('issue', 'link', 'WAL-2', '--blocked-by', 'WAL-1')
  const cycle = await run('issue', 'link', 'WAL-1', '--blocked-by', 'WAL-2')
  assert.match(cycle.err, /^service: --blocked-by: WAL-2 is /)
  assert.match((await run('issue', 'label', 'WAL-1')).err, /Name the labels with --add or --remove\./)
  assert.match((await run('document', 'view', 'WAL-1', 'plan')).err, /^service: This issue has no document plan/)
  assert.match(await out('whoami'), /^Type +person, in local trusted mode$/m)
  assert.match(await out('run', 'list'), /^There are no runs yet\. Start one with `service agent invoke NAME`\./)
})

test('a freeze names the runs that it stopped, and a thaw names the work to continue', async (t) => {
  const { out, server } = await withCommands(t)
  await out('company', 'create', 'Walrus')
  assert.equal(await out('thaw'), 'There is no freeze.\n')
  const config = JSON.stringify({ command: process.execPath, args: [path.join(AGENTS, 'hang.js')] })
  await out('agent', 'create', 'Kit', '--adapter', 'process', '--config', config)
  await out('agent', 'create', 'Otto', '--adapter', 'process', '--config', config)
  const isRunning = new Promise<void>((resolve) => {
    server.ctx.events.subscribe(({ type }) => type === 'run.running' && resolve())
  })
  await out('issue', 'create', 'Draw', '--assignee', 'Kit', '--status', 'in_progress')
  await isRunning
  assert.match(
    await out('freeze', '--reason', 'The bill'),
    /^All runs are frozen\. 1 run stopped: WAL-1\. No run starts until /,
  )
  assert.match(await out('agent', 'invoke', 'Otto'), /All runs are frozen/)
  assert.match(await out('why', 'WAL-1'), /cancelled, Stopped because all runs were frozen: The bill/)
  const thawed = await out('thaw')
  assert.match(
    thawed,
    /^The freeze has ended\. One waiting run can start now\.\nThese issues are in progress without a run/,
  )
  assert.match(thawed, /\n {2}\S.* agent invoke Kit --issue WAL-1\n$/)
})

test('times and intervals are in the form of the user', async (t) => {
  const { out, server } = await withCommands(t)
  await out('company', 'create', 'Walrus')
  await out('agent', 'create', 'Kit', '--adapter', 'process', '--config', '{"command":"no-such-program-anywhere"}')
  await out('routine', 'create', 'Mop', '--agent', 'Kit', '--every', '2h')
  await out('routine', 'create', 'Sweep', '--agent', 'Kit', '--every', '90s')
  assert.match(
    await out('routine', 'list'),
    /^Mop +every 2 h +Kit +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d .*\nSweep +every 90 s /m,
  )
  const isHeld = new Promise<void>((resolve) => {
    server.ctx.events.subscribe(({ type }) => type === 'agent.held' && resolve())
  })
  await out('routine', 'run', 'Mop')
  await isHeld
  assert.match(await out('routine', 'history', 'Mop'), /^\d{4}-\S+ \S+ +\d{4}-\S+ \S+ +created +WAL-1$/m)
  const why = await out('why', 'WAL-1')
  assert.match(why, /Kit is to run \(issue assigned\), but is held until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d: /)
  assert.doesNotMatch(why, /\d{4}-\d\d-\d\dT/)
})

test('a refusal names the reason and the remedy', async (t) => {
  const { out, run } = await withCommands(t)
  const unnamed = await run('company', 'new', 'Walrus')
  assert.equal(unnamed.code, 2)
  assert.match(unnamed.err, /--template: .*software-team.*service company create NAME/)
  await out('company', 'create', 'Walrus')
  await out('agent', 'create', 'Kit', '--adapter', 'process', '--config', '{"command":"true"}')
  await out('agent', 'pause', 'Kit', '--reason', 'Not today.')
  assert.match(
    (await run('agent', 'invoke', 'Kit')).err,
    /Kit is paused, so it cannot run\. Not today\. Resume it first\./,
  )
  await out('issue', 'create', 'Draw')
  assert.equal((await run('attachment', 'create', 'WAL-1', 'no-file')).err, 'service: There is no file no-file.\n')
  const folder = temporaryFolder(t)
  const missing = await runCommand(t, ['restore', path.join(folder, 'no.tar.gz'), '--data-dir', folder, '--yes'])
  assert.match(missing.err, /^service: There is no file .*no\.tar\.gz\.\n$/)
  const unknown = await runCommand(t, ['issue', 'list', '--data-dir', folder])
  assert.ok(unknown.err.includes(`service start --data-dir "${folder}"`), unknown.err)
  writeFileSync(path.join(folder, 'config.json'), '{"foo":1}')
  assert.throws(() => readConfig({ dataDir: folder }, {}), /config\.json cannot be used: Unknown key foo\./)
})
