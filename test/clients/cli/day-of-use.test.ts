import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { requireAnswer } from '../../../src/clients/cli/command/ask.ts'
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
  assert.match(await out('dashboard'), /^All runs are frozen since .* \(The bill\); .*thaw\nAgents/)
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
  await out('routine', 'create', 'Mop', '--assignee', 'Kit', '--every', '2h')
  await out('routine', 'create', 'Sweep', '--assignee', 'Kit', '--every', '90s')
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

test('an error of usage has the form of all other errors, and names the help', async (t) => {
  for (const [args, message] of [
    [['issue', 'lst'], 'There is no command lst. Did you mean list? See `service issue --help`.'],
    [['issue', 'link', 'WAL-1', '--block', 'x'], 'There is no option --block. See `service issue link --help`.'],
    [['issue', 'view'], 'The argument <issue> is missing. See `service issue view --help`.'],
    [['routine', 'create', 'Mop'], 'The option --assignee is missing. See `service routine create --help`.'],
    [['run', 'list', '--agent'], 'The option --agent needs a value. See `service run list --help`.'],
    [['thaw', 'now'], 'The number of arguments is 1 (now), not 0. See `service thaw --help`.'],
    [['completion', 'nosh'], '<shell> accepts bash, zsh, fish, not nosh. See `service completion --help`.'],
    [
      ['company', 'edit', '--status', 'x'],
      '--status accepts active, paused, archived, not x. See `service company edit --help`.',
    ],
  ] as const) {
    const { code, out, err } = await runCommand(t, [...args])
    assert.deepEqual([code, out, err], [2, '', `service: ${message}\n`])
  }
})

test('the help of a creation does not say that a field can be cleared', async (t) => {
  assert.doesNotMatch((await runCommand(t, ['issue', 'create', '--help'])).out, /clears it/)
  assert.match((await runCommand(t, ['issue', 'edit', '--help'])).out, /\(none clears it\)/)
})

test('the name of a terminated agent refers to the agent that has taken it', async (t) => {
  const { out, run, json } = await withCommands(t)
  await out('company', 'create', 'Walrus')
  const first = await json('agent', 'create', 'Rex', '--adapter', 'none')
  const second = await json('agent', 'create', 'Rex', '--adapter', 'none')
  const both = (await run('agent', 'view', 'rex')).err
  const short = (agent: { id: string }) => `${agent.id.slice(-8)} (idle)`
  assert.ok(both.includes(short(first)) && both.includes(short(second)), both)
  await out('agent', 'terminate', first.id, '--yes')
  assert.equal((await json('agent', 'view', 'rex')).id, second.id)
  await out('agent', 'terminate', second.id.slice(-8), '--yes')
  assert.equal((await run('agent', 'view', 'Rex')).code, 6)
})

test('a command that may wake an agent says what keeps the agent from running', async (t) => {
  const { out } = await withCommands(t)
  await out('company', 'create', 'Walrus')
  await out('agent', 'create', 'Rex', '--adapter', 'process', '--config', '{"command":"true"}')
  await out('agent', 'create', 'Otto', '--adapter', 'none')
  await out('freeze')
  const held = /\nRex is woken, but does not run yet:\n {2}All runs are frozen\. `service thaw` ends the freeze\.\n$/
  assert.match(await out('issue', 'create', 'Draw', '--assignee', 'Rex'), held)
  await out('issue', 'create', 'Ink')
  assert.match(await out('issue', 'assign', 'WAL-2', 'Rex'), held)
  assert.match(
    await out('why', 'WAL-2'),
    /Rex is to run \(issue assigned\), held: All runs are frozen/,
    'its cause is merged into the wake of WAL-1',
  )
  const comment = await out('issue', 'comment', 'WAL-2', 'Ask @Nobody, @Rex.')
  assert.match(comment, /^Commented on WAL-2\.\nThere is no agent and no person named Nobody\.\nRex is woken, /)
  assert.equal(
    await out('issue', 'create', 'Print', '--blocked-by', 'WAL-1,WAL-2', '--assignee', 'Otto'),
    'WAL-3 is todo: Print\nIt begins when its blockers are done: WAL-1, WAL-2.\n',
  )
  await out('thaw')
  assert.equal(await out('company', 'pause', 'WAL'), 'Walrus (WAL) is paused (manual).\n')
  assert.match(
    await out('issue', 'create', 'Fold', '--assignee', 'Rex'),
    /The company is paused by the board\. `service company resume` ends that\./,
  )
  assert.equal(await out('company', 'resume'), 'Walrus (WAL) is active.\n')
})

test('a person who closes an issue without an assignee is told that it is assigned to them', async (t) => {
  const { out } = await withCommands(t)
  await out('company', 'create', 'Walrus')
  await out('issue', 'create', 'Draw')
  await out('issue', 'create', 'Ink', '--assignee', '@me')
  assert.equal(
    await out('issue', 'done', 'WAL-1'),
    'WAL-1 is done: Draw\nIt had no assignee and is now assigned to you.\n',
  )
  assert.equal(await out('issue', 'done', 'WAL-2'), 'WAL-2 is done: Ink\n')
})

test('service api prints an error once, accepts short paths, and filters only successful responses', async (t) => {
  const { out, run } = await withCommands(t)
  await out('company', 'create', 'Walrus')
  assert.equal(await out('api', 'companies', '--jq', '.[].name'), 'Walrus\n')
  const failed = await run('api', 'issues/WAL-9', '--jq', 'length')
  assert.deepEqual([failed.code, failed.out, failed.err], [5, '', 'service: There is no issue WAL-9\n'])
  assert.equal(JSON.parse((await run('api', 'GET', '/api/issues/WAL-9')).out).code, 'not_found')
})

test('the activity of a run names its agent, its issue and its outcome', async (t) => {
  const { out, server } = await withCommands(t)
  await out('company', 'create', 'Walrus')
  await out('agent', 'create', 'Rex', '--adapter', 'process', '--config', '{"command":"false"}')
  const isFinished = new Promise<void>((resolve) => {
    server.ctx.events.subscribe(({ type }) => type === 'run.finished' && resolve())
  })
  await out('issue', 'create', 'Draw', '--assignee', 'Rex')
  await isFinished
  const activity = await out('activity', 'list')
  assert.match(activity, /run finished +Rex on WAL-1: failed$/m)
  assert.match(activity, /run started +Rex on WAL-1$/m)
  assert.match(await out('run', 'list'), /Rex +WAL-1 +failed /)
})

test('an unknown template is an error of usage that names the option', async (t) => {
  const { run } = await withCommands(t)
  const { code, err } = await run('company', 'new', 'Walrus', '--template', 'nix', '--yes')
  assert.equal(code, 2)
  assert.match(err, /^service: --template accepts content-studio, .*, not nix\.\n$/)
})

test('Ctrl-C at a prompt ends the command with 130', () => {
  const cancelled = Symbol('cancelled')
  const prompts = { isCancel: (answer: unknown): answer is symbol => answer === cancelled } as never
  assert.equal(requireAnswer(prompts, false), false)
  assert.throws(() => requireAnswer(prompts, cancelled), {
    exitCode: 130,
    message: 'Interrupted. Nothing was changed.',
  })
})
