import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { test } from 'node:test'
import { withCommands } from './in-process.ts'
import { environment, LAUNCHER, runService } from './service.ts'

const MESSAGES = path.join(import.meta.dirname, '../../agents/tells.mjs')

test('the company commands work with names only, from creation to costs', async (t) => {
  const { out, json, run } = await withCommands(t, { environment: { PATH: process.env.PATH ?? '' } })
  assert.match(await out('company', 'create', 'Tern & Co', '--budget', '50'), /^This month\s+\$0\.00 of \$50\.00$/m)
  await out('agent', 'create', 'Ada', '--role', 'ceo', '--adapter', 'http', '--config', '{"url":"http://127.0.0.1:9"}')
  const config = JSON.stringify({ command: MESSAGES })
  await out('agent', 'create', 'Kit', '--reports-to', 'ada', '--adapter', 'process', '--config', config)
  assert.match(await out('agent', 'list'), /^Kit +engineer +idle +Ada +\$0\.00 +no limit$/m)

  await out('agent', 'pause', 'kit', '--reason', 'Not yet.')
  assert.match(await out('agent', 'show', 'Kit'), /^Because +Not yet\.$/m)
  await out('goal', 'create', 'Launch', '--level', 'company')
  await out('goal', 'create', 'Draw', '--parent', 'launch', '--owner', 'Kit')
  assert.match(await out('goal', 'list'), /^Launch .*\n· Draw +team +planned +Kit /m)
  await out('project', 'create', 'Tide table', '--lead', 'Ada', '--goal', 'Launch')
  assert.match(await out('project', 'list'), /^Tide table +planned +Ada/m)
  assert.match(await out('issue', 'create', 'Draw the curve', '--project', 'tide table'), /^TER-1 is todo: Draw/)
  await out('issue', 'assign', 'TER-1', '@me')
  assert.match(await out('issue', 'list', '--assignee', '@me'), / the board /)
  assert.equal(await out('issue', 'list', '--assignee', 'none'), 'There are no such issues.\n')
  await out('issue', 'assign', 'ter-1', 'Kit')
  await out('issue', 'comment', 'TER-1', '@Kit which datum?')
  assert.match(await out('issue', 'list', '--assignee', 'kit'), /^TER-1 +Draw the curve +todo +medium +Kit/m)
  assert.match(await out('issue', 'show', 'TER-1'), /which datum\?/)

  const rehearsal = await out('agent', 'rehearse', 'Kit')
  assert.match(rehearsal, /^Kit would not run .*\n {2}waits: Kit is paused: Not yet\./)
  assert.match(rehearsal, new RegExp(`Command +${MESSAGES}`))
  const findRun = async (source: string) => {
    for (;;) {
      const runs: { id: string; invocationSource: string }[] = await json('run', 'list', '--agent', 'Kit')
      const found = runs.find((run) => run.invocationSource === source)
      if (found) return found
    }
  }
  await out('agent', 'resume', 'Kit')
  await findRun('issue_assigned') // the issue was assigned during the pause
  await out('agent', 'invoke', 'Kit', '--issue', 'TER-1')
  const live = await findRun('on_demand')
  const followed = await run('run', 'follow', live.id.slice(-8), '--raw')
  assert.deepEqual([followed.code, JSON.parse(followed.out).argv], [0, [MESSAGES]])
  assert.equal(await out('run', 'log', live.id.slice(-8), '--raw'), followed.out)
  assert.match(await out('run', 'show', live.id), /^Status +succeeded$/m)
  assert.match(await out('run', 'list'), /^\w{8} +Kit +TER-1 +succeeded +on demand /m)

  assert.match(await out('why', 'TER-1'), /the board woke Kit\n.* {4}Kit ran on TER-1 \(on demand\)/)
  assert.match(await out('issue', 'checkout', 'TER-1', '--agent', 'kit'), /^TER-1 is in progress/)
  assert.match(await out('issue', 'done', 'TER-1'), /^TER-1 is done/)
  assert.match(await out('issue', 'reopen', 'TER-1', '--comment', 'Not all of it.'), /^TER-1 is todo/)
  assert.equal(await out('issue', 'unread', 'TER-1'), 'TER-1 is unread.\n')
  assert.match(await out('issue', '--unread'), /^TER-1 /m, 'a noun alone lists')
  assert.equal(await out('--json=unread', 'issue', 'read', 'TER-1'), '{\n  "unread": false\n}\n')
  assert.equal(await out('issue', 'list', '--unread'), 'There are no such issues.\n')
  assert.match(await out('issue', 'checkout', 'TER-1', '--agent', 'kit'), /^TER-1 is in progress/)
  assert.match(await out('issue', 'done', 'TER-1', '--comment', 'It is drawn.'), /^TER-1 is done/)
  assert.match(await out('activity', 'list', '--issue', 'TER-1'), /board +issue updated +TER-1 status: done/)
  assert.match(await out('cost', 'show'), /^Budget +\$50\.00 a month, 0 % used$/m)
  assert.equal(await out('cost', 'by', 'agent'), 'Nothing was spent.\n')

  const key = await json('agent', 'keys', 'Kit', '--create', 'laptop')
  assert.match(key.token, /^svc_/)
  const own = await run('issue', 'list', '--json', '--token', key.token)
  assert.deepEqual([own.code, own.out], [0, '[]\n'], 'an agent needs not name its company')
  await out('agent', 'keys', 'Kit', '--create', 'screen', '--scope', 'read', '--expires', '2d')
  assert.match(await out('agent', 'keys', 'Kit'), /^screen +svc_\S+ +read +valid +\d{4}-\d\d-\d\d /m)
  await out('agent', 'keys', 'Kit', '--revoke', 'laptop')
  assert.equal((await run('issue', 'list', '--token', key.token)).code, 4)
})

test('with several companies a command selects one by name, by prefix or from the environment', async (t) => {
  const { out, run, runIn } = await withCommands(t)
  await out('company', 'create', 'Tern & Co')
  await out('company', 'create', 'Walrus')
  const unnamed = await run('agent', 'list')
  assert.equal(unnamed.code, 2)
  assert.match(unnamed.err, /--company: Tern & Co \(TER\), Walrus \(WAL\)/)
  await out('agent', 'create', 'Ada', '--company', 'wal')
  assert.match(await out('agent', 'list', '--company', 'walrus'), /^Ada /m)
  assert.match((await runIn({ SERVICE_COMPANY_ID: 'WAL' }, 'agent', 'list')).out, /^Ada /m)
  assert.doesNotMatch(await out('agent', 'list', '-c', 'TER'), /Ada/)
  assert.equal((await run('agent', 'list', '-c', 'nope')).code, 5)
  assert.equal((await run('agent', 'show', 'Ada', '-c', 'TER')).code, 5)
})

test('the board can decide an approval by the last characters of its id', async (t) => {
  const { out, json, run } = await withCommands(t)
  await out('company', 'create', 'Tern & Co')
  const company = (await json('company', 'list'))[0]
  const body = JSON.stringify({ type: 'approve_ceo_strategy', payload: { plan: 'Draw first.' } })
  const ceo = await json('agent', 'create', 'Ada', '--role', 'ceo')
  const { token } = await json('agent', 'keys', 'Ada', '--create', 'k')
  const requested = await run('api', 'POST', `/api/companies/${company.id}/approvals`, body, '--token', token)
  assert.equal(requested.code, 0, requested.err)
  const id = JSON.parse(requested.out).id.slice(-8)
  assert.match(await out('approval', 'list'), new RegExp(`^${id} +approve ceo strategy +pending +Ada +Draw first`, 'm'))
  assert.match(await out('approval', 'approve', id, '--note', 'Go.'), /is approved\.$/m)
  assert.match(await out('approval', 'show', id), /^Note +Go\.$/m)
  assert.ok(ceo.id)
})

test('tables fit a terminal of 80 columns, and are complete in a pipe', async (t) => {
  const { out, runIn } = await withCommands(t)
  await out('company', 'create', 'Tern & Co')
  await out('issue', 'create', `${'A long title of an issue '.repeat(6)}end`)
  const narrow = await runIn({ COLUMNS: '80' }, 'issue', 'list')
  for (const line of narrow.out.trimEnd().split('\n')) assert.ok(line.length <= 80, line)
  assert.match(narrow.out, /… {2}todo /)
  assert.match(await out('issue', 'list'), / end {2}todo /)
})

test('text from agents cannot send control sequences to the terminal', async (t) => {
  const { out } = await withCommands(t)
  await out('company', 'create', 'Tern & Co')
  await out('issue', 'create', 'Draw')
  await out('issue', 'comment', 'TER-1', 'before\u001b]0;owned\u0007\u001b[2Jafter')
  assert.match(await out('issue', 'show', 'TER-1'), /^beforeafter$/m)
  assert.ok(!(await out('activity', 'list')).includes('\u001b'))
})

test('the bash completion contains every verb', async (t) => {
  const { out } = await runService(t, ['completion', 'bash'])
  const program = `service() { ${process.execPath} ${LAUNCHER} "$@"; }`
  const complete = `${program}\n${out}\nCOMP_WORDS=(service issue ch); COMP_CWORD=2; _service; echo "\${COMPREPLY[@]}"`
  assert.equal(
    spawnSync('bash', ['-c', complete], { encoding: 'utf8', env: environment() }).stdout,
    'checkout changes\n',
  )
})

test('JSON output has the selected fields, supports jq, and --json needs no argument', async (t) => {
  const { out, run } = await withCommands(t)
  await out('company', 'create', 'Tern & Co')
  await out('issue', 'create', '日本語 🎉')
  assert.deepEqual(JSON.parse(await out('issue', 'list', '--json=identifier,status')), [
    { identifier: 'TER-1', status: 'todo' },
  ])
  assert.equal(JSON.parse(await out('issue', 'view', '--json', 'TER-1')).title, '日本語 🎉')
  assert.equal(await out('issue', 'list', '--jq', '.[] | .title'), '日本語 🎉\n')
  assert.match((await run('issue', 'list', '--json=nope')).err, /--json: there is no field nope\. The fields are: id, /)
  assert.match((await run('issue', 'list', '--jq', '.[')).err, /^service: --jq: jq: error/)
})

test('a usage error names the option, and nothing is deleted without --yes', async (t) => {
  const { out, run } = await withCommands(t)
  await out('company', 'create', 'Tern & Co')
  await out('issue', 'create', 'Draw')
  for (const [args, message] of [
    [['issue', 'edit', 'TER-1'], /There is nothing to change. Add at least one of --title, /],
    [
      ['issue', 'edit', 'TER-1', '--status', 'open'],
      /^service: --status accepts backlog, .*, not open\. See `.* issue edit --help`\.\n$/,
    ],
    [['issue', 'list', '--limit', '0'], /--limit must be a whole number from 1 to 1000/],
    [['project', 'create', 'Map', '--target', 'soon'], /^service: --target: /],
    [['company', 'delete', 'TER'], /add --yes/],
    [['login', 'service.example.com'], /<url> must be a URL such as https:/],
  ] as const) {
    const { code, err } = await run(...args)
    assert.equal(code, 2, err)
    assert.match(err, message)
  }
  assert.equal(await out('company', 'delete', 'TER', '--yes'), 'Tern & Co (TER) is deleted.\n')
  assert.match(await out('company', 'list'), /^There is no company yet/)
})
