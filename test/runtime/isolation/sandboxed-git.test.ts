import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { findBubblewrap } from '../../../src/runtime/isolation/bubblewrap.ts'
import { createTestRuns } from '../../runs.ts'
import { git } from '../worktree/git-command.ts'

const found = await findBubblewrap('')
const skip = 'missing' in found ? found.missing : false

/** Creates a repository with one commit, and runs a script as a sandboxed agent in a worktree of it. */
async function runInWorktree(t: TestContext, script: string) {
  const runs = await createTestRuns(t, { sandbox: 'bubblewrap' })
  const repository = path.join(runs.config.dataDir, 'repository')
  mkdirSync(repository)
  git(repository, 'init', '--quiet', '--initial-branch=main')
  writeFileSync(path.join(repository, 'work.txt'), 'begin\n')
  git(repository, 'add', '.')
  git(repository, 'commit', '--quiet', '-m', 'Begin')
  git(repository, 'gc', '--quiet')
  const project = await runs.make('POST', `/api/companies/${runs.companyId}/projects`, {
    name: 'Tides',
    workspace: { cwd: repository, isolation: 'worktree' },
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
  return { repository, run, text, changes }
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
