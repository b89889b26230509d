import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runService, withServer } from './service.ts'

// These tests are slow: each starts the program about thirty times.

test('every noun has help with examples, and an unknown verb is a usage error', async (t) => {
  for (const noun of ['company', 'agent', 'issue', 'goal', 'project', 'approval', 'run', 'cost', 'activity']) {
    const { out } = await runService(t, [noun, '--help'])
    const verbs = [...out.matchAll(/^ {2}([a-z-]+) (?:\[options\]|<)/gm)].map(([, verb]) => verb!)
    assert.ok(verbs.length > 0, noun)
    const help = await runService(t, [noun, verbs.at(-1)!, '--help'])
    assert.deepEqual([help.code, /Examples:/.test(help.out)], [0, true], noun)
    assert.equal((await runService(t, [noun, 'nope'])).code, 2)
  }
})

test('the routine commands create, run, pause, list, update and delete a routine by its title', async (t) => {
  const { out, json, run } = await withServer(t)
  await out('company', 'create', 'Tern & Co')
  await out('agent', 'create', 'Ada', '--role', 'ceo', '--adapter', 'http', '--config', '{"url":"http://127.0.0.1:9"}')
  await out('agent', 'pause', 'Ada')
  const zone = ['--cron', '0 9 * * 1', '--zone', 'Europe/Berlin']
  assert.match(
    await out('routine', 'create', 'Sweep', '--assignee', 'ada', ...zone),
    /^When +0 9 \* \* 1 \(Europe\/Berlin\)$/m,
  )
  await out('routine', 'create', 'Mop', '--assignee', 'Ada', '--every', '2h', '--paused')
  assert.match(await out('routine', 'list'), /^Sweep .* Ada +\d{4}-.*\nMop +every 2 h +Ada +paused/m)
  assert.match(await out('routine', 'run', 'sweep'), /^TER-1 is todo: Sweep/)
  assert.match(await out('routine', 'pause', 'Sweep'), /^Status +paused$/m)
  assert.match(await out('routine', 'resume', 'Sweep'), /^Status +active$/m)
  assert.match(await out('routine', 'show', 'Sweep'), /^Overlap +skip$/m)
  assert.match(await out('routine', 'history', 'Sweep'), /^\d{4}-\S+ \S+ +\d{4}-\S+ \S+ +created +TER-1$/m)
  const goal = await json('goal', 'create', 'Clean')
  const changed = await out('routine', 'update', 'sweep', '--title', 'Brush', '--every', '90s', '--goal', 'Clean')
  assert.match(changed, /^Routine +Brush\nAssignee +Ada\nWhen +every 90 s\n/)
  const brush = await json('routine', 'show', 'Brush')
  assert.deepEqual([brush.goalId, brush.assigneeAgentId], [goal.id, (await json('agent', 'show', 'Ada')).id])
  assert.equal(await out('routine', 'delete', 'brush', '--yes'), 'Brush is deleted. Its issues remain.\n')
  assert.doesNotMatch(await out('routine', 'list'), /Brush/)
  assert.match(await out('issue', 'list'), /^TER-1 +Sweep/m)
  assert.equal((await run(['routine', 'delete', 'Brush', '--yes'])).code, 5)
  const refused = await run(['routine', 'create', 'Rub', '--assignee', 'Ada', '--cron', '61 * * * *'])
  assert.notEqual(refused.code, 0)
  assert.match(refused.err, /Invalid value for minute: 61/)
})
