import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Config } from '../../../src/platform/config.ts'
import { findBubblewrap } from '../../../src/runtime/isolation/bubblewrap.ts'
import { removeClosedWorktrees } from '../../../src/runtime/worktree/retention.ts'
import { createTestRuns } from '../../runs.ts'
import { git } from '../worktree/git-command.ts'

const found = await findBubblewrap('')
const skip = 'missing' in found ? found.missing : false

/** Creates a repository with one commit, and runs a script as a sandboxed agent in a worktree of it. */
async function runInWorktree(
  t: TestContext,
  script: string,
  { workspace = {}, ...config }: Partial<Config> & { workspace?: object } = {},
) {
  const runs = await createTestRuns(t, { sandbox: 'bubblewrap', ...config })
  const repository = path.join(runs.config.dataDir, 'repository')
  mkdirSync(repository)
  git(repository, 'init', '--quiet', '--initial-branch=main')
  writeFileSync(path.join(repository, 'work.txt'), 'begin\n')
  git(repository, 'add', '.')
  git(repository, 'commit', '--quiet', '-m', 'Begin')
  git(repository, 'gc', '--quiet')
  const project = await runs.make('POST', `/api/companies/${runs.companyId}/projects`, {
    name: 'Tides',
    workspace: { cwd: repository, isolation: 'worktree', ...workspace },
  })
  const agent = await runs.agentThat('succeed.js', { config: { command: '/bin/sh', args: ['-c', script] } })
  await runs.make('PATCH', `/api/agents/${agent}`, { adapterConfig: { cwd: null } })
  const issue = await runs.make('POST', `/api/companies/${runs.companyId}/issues`, {
    title: 'Chart',
    projectId: project.id,
    assigneeAgentId: agent,
  })
  await runs.runUntilIdle()
  const [run] = await runs.runs()
  const { text } = (await runs.request('GET', `/api/runs/${run.id}/log`)).body
  const changes = (await runs.request('GET', `/api/issues/${issue.id}/changes`)).body
  return { runs, issue, agent, repository, run, text, changes }
}

const AS_AGENT =
  'export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.com'

test('a sandboxed run commits in its worktree', { skip }, async (t) => {
  const { repository, run, text, changes } = await runInWorktree(
    t,
    `${AS_AGENT}; echo more >> work.txt && git commit --quiet -am Work && git commit --quiet --amend -m Chart && git status --short && git log --format=%s`,
  )
  assert.deepEqual([run.status, text], ['succeeded', 'Chart\nBegin\n'])
  assert.equal(changes.commits[0].subject, 'Chart')
  assert.equal(git(repository, 'log', '-1', '--format=%s', changes.branch), 'Chart')
  assert.equal(git(repository, 'fsck', '--strict'), '')
})

test('a sandboxed run cannot change what git executes in the repository, nor its other branches and its packed history', {
  skip,
}, async (t) => {
  const attacks = {
    'a hook': 'echo "touch $PWD/ran" > "$COMMON/hooks/post-checkout"',
    'the configuration': 'git config core.fsmonitor /tmp/evil || echo "[core]" >> "$COMMON/config"',
    'the configuration of the worktree': 'echo "[core]" >> "$GIT/config.worktree"',
    'another folder with the configuration': 'echo /tmp > "$GIT/commondir"',
    'a replaced folder of the worktree': 'mv "$GIT" "$GIT.old"',
    'a replaced link to the worktree': 'echo "gitdir: /tmp" > .git',
    'a moved link to the worktree': 'mv .git old',
    'a removed link to the worktree': 'rm -f .git',
    'the folder of the worktree, in the repository': 'echo /tmp > "$GIT/gitdir"',
    'the main branch': 'git branch --force main HEAD~0 || echo x > "$COMMON/refs/heads/main"',
    'the checked-out commit of the repository': 'git --git-dir="$COMMON" symbolic-ref HEAD refs/heads/x',
    'the index of the repository': 'touch "$COMMON/index.lock"',
    'the packed history': 'rm -f "$COMMON"/objects/pack/*.pack',
    'a folder of packs': 'mv "$COMMON/objects/pack" "$COMMON/objects/old"',
    'other objects': 'echo /tmp > "$COMMON/objects/info/alternates"',
    'the attributes': 'mkdir -p "$COMMON/info" && echo "* filter=x" > "$COMMON/info/attributes"',
    'a submodule of the repository': 'mkdir -p "$COMMON/modules/x"',
  }
  const script = Object.entries(attacks).map(([what, attack]) => `(${attack}) 2>/dev/null && echo "worked: ${what}"`)
  const { repository, text, run } = await runInWorktree(
    t,
    `${AS_AGENT}; GIT=$(git rev-parse --absolute-git-dir); COMMON=$(cd "$(git rev-parse --git-common-dir)" && pwd)
${script.join('\n')}
git commit --quiet --allow-empty -m Still && echo committed`,
  )
  assert.deepEqual([run.status, text], ['succeeded', 'committed\n'])
  assert.equal(git(repository, 'status', '--short'), '')
  assert.equal(existsSync(path.join(repository, '.git/hooks/post-checkout')), false)
  assert.doesNotMatch(readFileSync(path.join(repository, '.git/config'), 'utf8'), /fsmonitor/)
})

test('a named pipe in the place of the index does not block the server', { skip }, async (t) => {
  const { run, changes } = await runInWorktree(
    t,
    `${AS_AGENT}; echo more >> work.txt && git commit --quiet -am Work; index=$(git rev-parse --absolute-git-dir)/index; rm "$index"; mkfifo "$index"`,
  )
  assert.deepEqual([run.status, changes.commits.length], ['succeeded', 1])
})

/** Creates a folder, outside of the data directory, for the programs and secrets of a user. */
function makeFolder(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'service-user-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

test('the commands of a workspace are sandboxed: they see what a run there sees', { skip }, async (t) => {
  const user = makeFolder(t)
  writeFileSync(path.join(user, 'secret'), 'not for agents')
  const attack = `cat ${user}/secret "$HOME"/.ssh/* ../../service.db; echo ran > ${user}/ran; kill -0 ${process.pid} && echo reached`
  const seen = 'git rev-parse --git-common-dir'
  const { runs, issue, repository, text, run } = await runInWorktree(t, 'cat set-up', {
    workspace: {
      setupCommand: `(${attack}) > set-up 2>/dev/null; git add -A; ${AS_AGENT}; git commit -qm Set-up`,
      cleanupCommand: `(${attack}; ${seen}) > "$(git rev-parse --absolute-git-dir)"/clean-up 2>/dev/null; cp "$(git rev-parse --absolute-git-dir)"/clean-up "$(git rev-parse --git-common-dir)"/objects/clean-up`,
    },
  })
  assert.deepEqual([run.status, text], ['succeeded', ''])
  await runs.make('POST', `/api/issues/${issue.id}/close`)
  assert.deepEqual(await removeClosedWorktrees(runs.ctx, { closedBefore: '2100' }), { removed: 1, kept: [] })
  assert.equal(readFileSync(path.join(repository, '.git/objects/clean-up'), 'utf8'), `${repository}/.git\n`)
  assert.equal(existsSync(path.join(user, 'ran')), false)
})

test('without a working sandbox, the clean-up command does not run and the worktree is kept', { skip }, async (t) => {
  const { runs, issue, changes, repository } = await runInWorktree(t, 'true', {
    workspace: { cleanupCommand: 'touch ../cleaned' },
  })
  await runs.make('POST', `/api/issues/${issue.id}/close`)
  const programs = makeFolder(t)
  writeFileSync(
    path.join(programs, 'bwrap'),
    '#!/bin/sh\ncase "$*" in *--unshare-net*) shift; while [ "$1" != -- ]; do shift; done; shift; exec "$@";; esac; exit 1\n',
    { mode: 0o755 },
  )
  const broken = {
    ...runs.ctx,
    config: { ...runs.config, environment: { PATH: `${programs}:${process.env.PATH}` }, sandbox: 'off' as const },
  }
  assert.deepEqual(await removeClosedWorktrees(broken, { closedBefore: '2100' }), { removed: 0, kept: [] })
  assert.ok(existsSync(changes.path) && !existsSync(path.join(path.dirname(changes.path), 'cleaned')), repository)
})

test('git reads a worktree of sandboxed runs in a sandbox, so no race with a link can show other files', {
  skip,
}, async (t) => {
  const user = makeFolder(t)
  writeFileSync(path.join(user, 'secret'), 'not for agents')
  // Fails when it could read a file of the user, except where the server writes the repository.
  const program = `#!/bin/sh\ncase " $* " in *" update-index "* | *" diff-"* | *" ls-files "*) [ -e ${user}/secret ] && exit 9;; esac\nPATH=/usr/bin:/bin exec git "$@"\n`
  writeFileSync(path.join(user, 'git'), program)
  chmodSync(path.join(user, 'git'), 0o755)
  const environment = { PATH: `${user}:${process.env.PATH}` }
  const { changes, run } = await runInWorktree(t, 'PATH=/usr/bin:/bin; echo more >> work.txt', { environment })
  assert.match(changes.patch, /\+more/)
  assert.equal(run.changes.filesChanged, 1)
})

test('a sandboxed run gets no other repository by a link that a run wrote in its workspace', { skip }, async (t) => {
  const user = makeFolder(t)
  git(user, 'init', '--quiet')
  git(user, 'commit', '--quiet', '--allow-empty', '-m', 'Private')
  const { runs, issue, repository, run } = await runInWorktree(t, 'git log --format=%s')
  assert.equal(run.status, 'succeeded')
  // As a run without a worktree could do.
  rmSync(path.join(repository, '.git'), { recursive: true })
  writeFileSync(path.join(repository, '.git'), `gitdir: ${user}/.git\n`)
  const other = await runs.make('POST', `/api/companies/${runs.companyId}/issues`, {
    title: 'Other',
    projectId: (await runs.make('GET', `/api/issues/${issue.id}`)).projectId,
    assigneeAgentId: run.agentId,
  })
  await runs.runUntilIdle()
  const last = (await runs.runs()).at(-1)
  assert.deepEqual([last.issueId, last.status, last.errorCode], [other.id, 'failed', 'sandbox_folder'])
  assert.match(last.error, /outside the workspace of the project/)
})
