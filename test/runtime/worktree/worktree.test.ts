import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { runGit, withoutNamedHooks } from '../../../src/runtime/worktree/git.ts'
import { removeClosedWorktrees } from '../../../src/runtime/worktree/retention.ts'
import { insertAgent } from '../../arrange.ts'
import { createTestRuns, type TestRuns } from '../../runs.ts'
import { git } from './git-command.ts'

/** Creates a repository with one commit, and a project with a worktree of it for each issue. */
async function setUp(t: TestContext, workspace: object = {}) {
  const runs = await createTestRuns(t)
  const repository = path.join(runs.config.dataDir, 'repository')
  mkdirSync(repository)
  git(repository, 'init', '--quiet', '--initial-branch=main')
  writeFileSync(path.join(repository, 'work.txt'), 'begin\n')
  git(repository, 'add', '.')
  git(repository, 'commit', '--quiet', '-m', 'Begin')
  const project = await runs.make('POST', `/api/companies/${runs.companyId}/projects`, {
    name: 'Tides',
    workspace: { cwd: repository, isolation: 'worktree', ...workspace },
  })
  /** Creates an agent without its own cwd, and returns its id. */
  const agentWhich = async (...args: string[]): Promise<string> => {
    const id = await runs.agentThat('commits.js', { args })
    await runs.make('PATCH', `/api/agents/${id}`, { adapterConfig: { cwd: null } })
    return id
  }
  return { ...runs, repository, project, agentWhich }
}

type World = Awaited<ReturnType<typeof setUp>>

const newIssue = (world: World, assigneeAgentId: string) =>
  world.make('POST', `/api/companies/${world.companyId}/issues`, {
    title: 'Chart',
    projectId: world.project.id,
    assigneeAgentId,
  })

const again = (world: TestRuns, issue: { id: string }) =>
  world.make('POST', `/api/issues/${issue.id}/comments`, { body: 'Once more.', reopen: true })

const changesOf = async (world: TestRuns, issue: { id: string }, query = '') =>
  (await world.request('GET', `/api/issues/${issue.id}/changes${query}`)).body

test('the first run of an issue creates a worktree and a branch, and later runs reuse them', async (t) => {
  const world = await setUp(t)
  const issue = await newIssue(world, await world.agentWhich('commit', 'leave'))
  assert.deepEqual([(await changesOf(world, issue)).branch, (await changesOf(world, issue)).patch], [null, ''])
  await world.runUntilIdle()
  await again(world, issue)
  await world.runUntilIdle()

  const [first, second] = await world.runs()
  assert.deepEqual([first.status, second.status], ['succeeded', 'succeeded'])
  const { branch, commits, filesChanged, insertions, hasUncommitted } = second.changes
  assert.equal(branch, `service/${issue.identifier.toLowerCase()}`)
  assert.deepEqual([commits.length, commits[0].subject], [1, `Work of ${issue.id}`], 'its own commit only')
  assert.deepEqual([filesChanged, insertions, hasUncommitted], [2, 3, true])

  const changes = await changesOf(world, issue)
  assert.equal(changes.commits.length, 2)
  assert.equal(changes.headCommit, git(world.repository, 'rev-parse', branch))
  assert.equal(changes.baseCommit, git(world.repository, 'rev-parse', 'main'))
  assert.deepEqual(
    changes.files.map((file: { path: string }) => file.path),
    ['left.txt', 'work.txt'],
  )
  assert.match(changes.patch, /\+one line\n\+one line/)
  assert.equal(readFileSync(path.join(changes.path, 'left.txt'), 'utf8'), `${changes.path}\n`.repeat(2))
  assert.equal(git(world.repository, 'status', '--porcelain'), '', 'the repository itself is untouched')
})

test('each issue has its own branch, and a workspace in a subfolder uses the same subfolder of the worktree', async (t) => {
  const world = await setUp(t)
  mkdirSync(path.join(world.repository, 'part'))
  writeFileSync(path.join(world.repository, 'part', 'a.txt'), 'a\n')
  git(world.repository, 'add', '.')
  git(world.repository, 'commit', '--quiet', '-m', 'Add a part')
  const workspace = world.project.primaryWorkspace
  const one = `/api/projects/${world.project.id}/workspaces/${workspace.id}`
  await world.make('PATCH', one, { cwd: path.join(world.repository, 'part') })
  const agents = [await world.agentWhich('leave'), await world.agentWhich('leave')]
  const issues = await Promise.all(agents.map((agent) => newIssue(world, agent)))
  await world.runUntilIdle()
  const [first, second] = await Promise.all(issues.map((issue) => changesOf(world, issue)))
  assert.notEqual(first.branch, second.branch)
  assert.deepEqual(
    [first.files[0].path, second.files[0].path],
    ['part/left.txt', 'part/left.txt'],
    JSON.stringify(await world.runs()),
  )
})

test('a patch is cut at its limit', async (t) => {
  const world = await setUp(t)
  const issue = await newIssue(world, await world.agentWhich('commit'))
  await world.runUntilIdle()
  const { patch, isCut } = await changesOf(world, issue, '?maxPatchBytes=20')
  assert.deepEqual([patch.length, isCut], [20, true])
  assert.equal((await world.request('GET', `/api/issues/${issue.id}/changes?maxPatchBytes=99999999`)).status, 400)
})

test('commands in the configuration of a repository are never executed', async (t) => {
  const world = await setUp(t)
  const marker = path.join(world.config.dataDir, 'executed')
  const evil = path.join(world.config.dataDir, 'evil.sh')
  writeFileSync(evil, `#!/bin/sh\necho "$0 $*" >> '${marker}'\ncat\n`)
  chmodSync(evil, 0o755)
  const hooks = path.join(world.config.dataDir, 'hooks')
  mkdirSync(hooks)
  for (const hook of [
    'post-checkout',
    'reference-transaction',
    'post-index-change',
    'fsmonitor-watchman',
    'pre-auto-gc',
  ]) {
    writeFileSync(path.join(hooks, hook), `#!/bin/sh\necho ${hook} >> '${marker}'\n`, { mode: 0o755 })
  }
  const included = path.join(world.config.dataDir, 'included')
  writeFileSync(included, `[filter "other"]\n\tclean = ${evil}\n\tsmudge = ${evil}\n[core]\n\tfsmonitor = ${evil}\n`)
  const settings = {
    'core.hooksPath': hooks,
    'hook.evil.event': 'reference-transaction',
    'hook.evil.command': evil,
    'core.fsmonitor': evil,
    'core.pager': evil,
    'core.editor': evil,
    'core.sshCommand': evil,
    'core.alternateRefsCommand': evil,
    'diff.external': evil,
    'diff.evil.command': evil,
    'diff.evil.textconv': evil,
    'filter.evil.clean': evil,
    'filter.evil.smudge': evil,
    'filter.evil.process': evil,
    'filter.evil.required': 'true',
    'gpg.program': evil,
    'log.showSignature': 'true',
    'include.path': included,
  }
  const misconfigure = (folder: string) => {
    for (const [name, value] of Object.entries(settings)) git(folder, 'config', name, value)
  }
  // A nested repository, like a submodule.
  const inner = path.join(world.repository, 'inner')
  mkdirSync(inner)
  git(inner, 'init', '--quiet')
  writeFileSync(path.join(inner, 'a.txt'), 'a\n')
  git(inner, 'add', '.')
  git(inner, 'commit', '--quiet', '-m', 'Inner')
  writeFileSync(path.join(world.repository, '.gitattributes'), '* filter=evil diff=evil\n*.md filter=other diff=evil\n')
  writeFileSync(path.join(world.repository, 'read.md'), 'read\n')
  git(world.repository, 'add', '.')
  git(world.repository, 'commit', '--quiet', '-m', 'Attributes')
  misconfigure(inner)
  misconfigure(world.repository)

  const issue = await newIssue(world, await world.agentWhich('leave'))
  await world.runUntilIdle()
  const { path: folder } = await changesOf(world, issue)
  // Files that an agent can leave in its worktree.
  mkdirSync(path.join(folder, 'inner'), { recursive: true })
  execFileSync('cp', ['-R', `${inner}/.`, path.join(folder, 'inner')])
  writeFileSync(path.join(folder, 'inner', 'a.txt'), 'changed\n')
  writeFileSync(path.join(folder, 'read.md'), 'changed\n')
  const changes = await changesOf(world, issue)
  assert.match(changes.patch, /-read\n\+changed/)
  assert.equal((await world.runs())[0].changes.filesChanged, 1)
  await world.make('POST', `/api/issues/${issue.id}/close`)
  await removeClosedWorktrees(world.ctx, { closedBefore: '2100' })
  assert.equal(existsSync(marker) ? readFileSync(marker, 'utf8') : '', '')
})

test('the setup command runs once before the program, and its failure fails the run', async (t) => {
  const world = await setUp(t, { setupCommand: 'test -e ../allowed && echo "$SERVICE_TASK_ID" >> set-up.txt' })
  const issue = await newIssue(world, await world.agentWhich('leave'))
  await world.runUntilIdle()
  const [failed] = await world.runs()
  assert.deepEqual([failed.status, failed.errorCode], ['failed', 'setup_failed'])
  writeFileSync(path.join(world.config.dataDir, 'worktrees', 'allowed'), '')
  for (let i = 0; i < 2; i++) {
    world.clock.move(60_000)
    await again(world, issue)
    await world.runUntilIdle()
  }
  const { path: folder } = await changesOf(world, issue)
  assert.equal(readFileSync(path.join(folder, 'set-up.txt'), 'utf8'), `${issue.id}\n`)
  assert.equal(readFileSync(path.join(folder, 'left.txt'), 'utf8').split('\n').length - 1, 2)
})

test('only the board can set the commands of a workspace', async (t) => {
  const world = await setUp(t)
  const ceo = insertAgent(world, { company_id: world.companyId, role: 'ceo' })
  const all = `/api/projects/${world.project.id}/workspaces`
  const refused = await ceo.request('POST', all, { cwd: '/srv/x', setupCommand: 'rm -rf /' })
  assert.deepEqual([refused.status, refused.body.code], [403, 'forbidden'])
  const change = { cleanupCommand: 'rm -rf /' }
  assert.equal((await ceo.request('PATCH', `${all}/${world.project.primaryWorkspace.id}`, change)).status, 403)
  assert.equal((await ceo.request('POST', all, { cwd: '/srv/x', isolation: 'worktree' })).status, 201)
  const set = await world.make('PATCH', `${all}/${world.project.primaryWorkspace.id}`, change)
  assert.deepEqual([set.isolation, set.setupCommand, set.cleanupCommand], ['worktree', null, 'rm -rf /'])
})

test('a workspace without a repository or with an unknown commit fails the run with a clear error', async (t) => {
  const world = await setUp(t, { repoRef: 'no-such-branch' })
  const agent = await world.agentWhich('leave')
  const issue = await newIssue(world, agent)
  await world.runUntilIdle()
  assert.match((await world.runs())[0].error, /repository of the workspace repository has no commit no-such-branch/)
  const plain = path.join(world.config.dataDir, 'plain')
  mkdirSync(plain)
  const workspace = `/api/projects/${world.project.id}/workspaces/${world.project.primaryWorkspace.id}`
  await world.make('PATCH', workspace, { cwd: plain, repoRef: null })
  await again(world, issue)
  await world.runUntilIdle()
  const run = (await world.runs()).at(-1)
  assert.deepEqual([run.errorCode, /not a git repository/.test(run.error)], ['worktree_failed', true])
})

test('the worktree of a closed issue is removed if everything is committed, and its branch is kept', async (t) => {
  const world = await setUp(t, { cleanupCommand: 'echo bye > ../cleaned' })
  const [clean, dirty] = [await world.agentWhich('commit'), await world.agentWhich('leave')]
  const issues = [await newIssue(world, clean), await newIssue(world, dirty)]
  await world.runUntilIdle()
  const folders = await Promise.all(issues.map(async (issue) => (await changesOf(world, issue)).path))
  const remove = () => removeClosedWorktrees(world.ctx, { closedBefore: world.ctx.now })
  assert.deepEqual(await remove(), { removed: 0, kept: [] }, 'open issues keep theirs')
  for (const issue of issues) await world.make('POST', `/api/issues/${issue.id}/close`)
  await world.runUntilIdle()
  world.clock.move(1_000)
  const elsewhere = { ...world.ctx, config: { ...world.config, dataDir: '/srv/copy' } }
  const nothing = { removed: 0, kept: [] }
  assert.deepEqual(await removeClosedWorktrees(elsewhere, { closedBefore: '2100' }), nothing, 'not of this directory')
  assert.deepEqual(await remove(), { removed: 1, kept: [issues[1].id] })
  assert.deepEqual(folders.map(existsSync), [false, true])
  assert.ok(existsSync(path.join(world.config.dataDir, 'worktrees', 'cleaned')))

  const after = await changesOf(world, issues[0])
  assert.deepEqual([after.path, after.commits.length, after.hasUncommitted], [null, 1, false])
  assert.match(after.patch, /\+one line/)
  await again(world, issues[0])
  await world.runUntilIdle()
  const reopened = await changesOf(world, issues[0])
  assert.deepEqual([reopened.path, reopened.commits.length], [folders[0], 2])
})

test('a worktree that a person removed is created again, and its changes are those of its branch', async (t) => {
  const world = await setUp(t)
  const issue = await newIssue(world, await world.agentWhich('commit'))
  await world.runUntilIdle()
  const { path: folder, branch } = await changesOf(world, issue)
  git(world.repository, 'worktree', 'remove', folder)
  const between = await changesOf(world, issue)
  assert.deepEqual([between.path, between.commits.length, between.filesChanged], [null, 1, 1])
  await again(world, issue)
  await world.runUntilIdle()
  assert.equal((await world.runs()).at(-1).status, 'succeeded')
  const after = await changesOf(world, issue)
  assert.deepEqual([after.path, after.branch, after.commits.length], [folder, branch, 2])

  git(world.repository, 'worktree', 'remove', folder)
  git(world.repository, 'branch', '--delete', '--force', branch)
  const lost = await world.request('GET', `/api/issues/${issue.id}/changes`)
  assert.deepEqual([lost.status, /its branch service\/\S+ was deleted/.test(lost.body.error)], [409, true])
})

test('the error of a run that timed out names the set-up command of its workspace', async (t) => {
  const world = await setUp(t, { setupCommand: 'sleep 1000' })
  const agent = await world.agentWhich('leave')
  await world.make('PATCH', `/api/agents/${agent}`, { adapterConfig: { timeoutSec: 1, graceSec: 0 } })
  await newIssue(world, agent)
  await world.runUntilIdle()
  const [run] = await world.runs()
  assert.deepEqual([run.status, run.errorCode], ['timed_out', 'timed_out'])
  assert.match(run.error, /time limit \(timeoutSec\)\. The set-up command of the workspace was a part of it/)
})

test('binary files, other encodings and many files are listed within the limits', async (t) => {
  const world = await setUp(t)
  const issue = await newIssue(world, await world.agentWhich('leave'))
  await world.runUntilIdle()
  const { path: folder } = await changesOf(world, issue)
  writeFileSync(path.join(folder, 'a-picture.png'), Buffer.from([0x89, 0x50, 0, 1, 2, 255, 254, 0]))
  writeFileSync(path.join(folder, 'b-latin.txt'), Buffer.from('caf\xe9\n', 'latin1'))
  writeFileSync(path.join(folder, 'c-large.txt'), 'a line of text\n'.repeat(100_000))
  writeFileSync(path.join(folder, 'd-too-large.bin'), Buffer.alloc(6 * 1024 * 1024))
  mkdirSync(path.join(folder, 'many'))
  for (let n = 0; n < 1_500; n++) writeFileSync(path.join(folder, 'many', `${n}.txt`), `${n}\n`)

  const changes = await changesOf(world, issue)
  const fileOf = (name: string) => changes.files.find((file: { path: string }) => file.path === name)
  assert.deepEqual(fileOf('a-picture.png'), { path: 'a-picture.png', insertions: null, deletions: null })
  assert.deepEqual(fileOf('b-latin.txt').insertions, 1)
  assert.equal(fileOf('c-large.txt').insertions, 100_000)
  assert.equal(fileOf('d-too-large.bin'), undefined, 'an untracked file of more than 5 MB is not read')
  assert.match(changes.patch, /Binary files \/dev\/null and b\/a-picture\.png differ/)
  assert.deepEqual([changes.isCut, changes.hasUncommitted], [true, true])
  assert.equal(changes.filesChanged, 1_504)
  assert.ok(changes.files.length <= 1_000 && Buffer.byteLength(changes.patch) <= 1024 * 1024 + 4)
  git(folder, 'add', '.')
  git(folder, 'commit', '--quiet', '-m', 'All of it')
  const committed = await changesOf(world, issue)
  assert.deepEqual([committed.filesChanged, committed.hasUncommitted], [1_505, false])
})

test('every hook that the configuration of a repository names is turned off, whatever its name', async (t) => {
  const { repository } = await setUp(t)
  const searchPath = process.env.PATH ?? ''
  const names = ['lint', 'a.b=c d', 'Tide\'s "hook"']
  for (const name of names) {
    git(repository, 'config', `hook.${name}.event`, 'reference-transaction')
    git(repository, 'config', `hook.${name}.command`, 'true')
    git(repository, 'config', `hook.${name}.enabled`, 'true')
  }
  const env = await withoutNamedHooks(searchPath, repository)
  for (const name of names) {
    const { text } = await runGit(['config', '--get', `hook.${name}.enabled`], { searchPath, cwd: repository, env })
    assert.equal(text.trim(), 'false', name)
  }
})
