import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertAgent } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'
import { exportAll, importNew, inline } from '../fixtures.ts'

/** A package with all kinds of data that this product has no field for. */
const FILES = {
  LICENSE: 'MIT\n',
  'images/shot.png': { encoding: 'base64', data: 'iVBORw0KGgo=' },
  'COMPANY.md': `---
name: Odd Works
slug: oddworks
schema: agentcompanies/v1
goals:
  - title: Ship it
    description: Soon
metadata:
  sources:
    - kind: github-dir
      repo: a/b
requirements:
  secrets:
    - OPENAI_API_KEY
includes:
  - agents/ceo/AGENTS.md
---

We ship.
`,
  'agents/ceo/AGENTS.md': `---
name: Boss
skills: [ghost]
metadata:
  persona: calm
requirements:
  secrets: [STRIPE_KEY]
---

Lead.
`,
  'agents/ceo/HEARTBEAT.md': 'Beat.\n',
  'teams/all/TEAM.md': `---
name: All
manager: ceo
includes:
  - ../core/TEAM.md
---
`,
  'teams/core/TEAM.md': '---\nname: Core\nmetadata: {a: 1}\n---\n',
  'projects/site/PROJECT.md': `---
name: Site
description: The site
owner: ceo
---

All pages.

![shot](../../images/shot.png)
`,
  'projects/site/tasks/first-cut/TASK.md': `---
name: Cut the first release
description: Short
goal: ship-it
metadata: {points: 3}
---

All of it.
`,
  'tasks/weekly/TASK.md': '---\nname: Review of the week\nrecurring: true\n---\n\nReview.\n',
  '.paperclip.yaml': `schema: paperclip/v1
company: {logoPath: images/shot.png}
sidebar: {agents: [ceo]}
agents:
  ceo:
    sortOrder: 3
    permissions: {canCreateAgents: false, canFly: true}
    adapter: {type: claude_local, config: {model: opus}, session: 1}
    runtime: {heartbeat: {enabled: true, intervalSec: 600, cooldownSec: 5}}
    inputs: {env: {MODE: {kind: plain, requirement: optional, default: fast, portability: portable}}}
projects:
  site:
    color: "#ff0000"
    workspaces:
      other: {repoUrl: "https://github.com/a/c", isolation: worktree, visibility: default}
      main: {repoUrl: "https://github.com/a/b", repoRef: main, isPrimary: true, setupCommand: npm ci}
      local: {cwd: /srv/x}
tasks:
  first-cut: {priority: high, billingCode: ACME, executionWorkspaceSettings: {mode: shared}}
routines:
  weekly:
    catchUpPolicy: skip_missed
    triggers:
      - {kind: schedule, cronExpression: "0 9 * * 1", timezone: Europe/Berlin}
      - {kind: webhook}
`,
} as const

test('an export preserves package fields that this product does not support', async (t) => {
  const app = createTestApp(t)
  const plan = await importNew(app, FILES)
  const id = plan.target.companyId
  const files = (await exportAll(app, id)) as Record<string, string>
  const has = (file: string, ...parts: string[]) => {
    for (const part of parts) assert.ok(files[file]?.includes(part), `${file}: ${part}\n${files[file]}`)
  }
  has('COMPANY.md', 'slug: oddworks', 'repo: a/b', '- OPENAI_API_KEY', '- agents/ceo/AGENTS.md')
  has('agents/ceo/AGENTS.md', '- ghost', 'persona: calm', '- STRIPE_KEY')
  has('teams/all/TEAM.md', '- ../core/TEAM.md')
  has('teams/core/TEAM.md', 'a: 1')
  has('projects/site/PROJECT.md', 'description: The site\n', '\n\nAll pages.\n\n![shot](../../images/shot.png)\n')
  has('projects/site/tasks/first-cut/TASK.md', 'description: Short\n', 'points: 3', '\n\nAll of it.\n')
  has('tasks/weekly/TASK.md', 'cron: 0 9 * * 1')
  assert.deepEqual(files['images/shot.png'], FILES['images/shot.png'])
  has('.service.yaml', 'description: Soon', 'logoPath: images/shot.png', 'sortOrder: 3', 'canCreateAgents: false')
  has('.service.yaml', 'default: fast', 'color: "#ff0000"', 'billingCode: ACME', 'goal: ship-it', 'mode: shared')
  has('.service.yaml', 'catchUpPolicy: skip_missed', 'sidebar:', 'STRIPE_KEY:')
  has(
    '.service.yaml',
    '- name: main\n        repoUrl: https://github.com/a/b\n        repoRef: main\n        setupCommand: npm ci',
  )
  has('.service.yaml', '- name: other\n        repoUrl: https://github.com/a/c\n        isolation: worktree')

  const again = await importNew(app, files)
  assert.deepEqual(await exportAll(app, again.target.companyId), files)
  const issues = await app.make('GET', `/api/companies/${id}/issues`)
  assert.deepEqual([issues[0].billingCode, typeof issues[0].goalId], ['ACME', 'string'])
})

test('the preview names all omitted data and all data that requires an action by a person', async (t) => {
  const app = createTestApp(t)
  const { warnings } = await importNew(app, FILES)
  const received = warnings
    .map(({ path, message }: { path: string; message: string }) => `${path}: ${message}`)
    .join('\n')
  for (const name of ['canFly', 'cooldownSec', 'session', 'portability', 'visibility', 'agents/ceo/HEARTBEAT.md']) {
    assert.match(received, new RegExp(`(not imported|ignored): .*${name}`), name)
  }
  for (const part of ['heartbeat.enabled', 'several triggers', 'npm ci', 'workspace local', 'skills: ghost']) {
    assert.ok(received.includes(part), part)
  }
})

test('an export omits preserved fields that may contain a secret, with a warning', async (t) => {
  const app = createTestApp(t)
  const agent = `---\nname: Boss\nmetadata:\n  apiKey: abc\n  tier: gold\nhook: https://hooks.example.org/T0/B1/abcdefgh12345678\nplain: yes\n---\n\nLead.\n`
  const { target } = await importNew(app, { 'COMPANY.md': '---\nname: A\n---\n', 'agents/ceo/AGENTS.md': agent })
  const { files, warnings } = await app.make('POST', `/api/companies/${target.companyId}/exports`, {})
  const file: string = files['agents/ceo/AGENTS.md']
  assert.match(file, /tier: gold\nplain: yes/)
  assert.doesNotMatch(file, /abc/)
  const left = warnings.map(({ message }: { message: string }) => message)
  for (const name of ['apiKey', 'hook'])
    assert.ok(
      left.some((text: string) => text.includes(`field ${name} may`)),
      name,
    )
})

test('an import by a CEO does not set commands of workspaces', async (t) => {
  const app = createTestApp(t)
  const { id } = await app.make('POST', '/api/companies', { name: 'Acme' })
  const ceo = insertAgent(app, { company_id: id, role: 'ceo' })
  const response = await ceo.request('POST', `/api/companies/${id}/imports/apply`, {
    source: inline(FILES),
    target: { mode: 'existing_company', companyId: id },
    include: { agents: false, company: false, issues: false },
    fetchSkills: false,
  })
  assert.ok(response.status < 300, JSON.stringify(response.body.error))
  const [project] = await app.make('GET', `/api/companies/${id}/projects`)
  assert.deepEqual(
    project.workspaces.map((one: { setupCommand: string | null }) => one.setupCommand),
    [null, null],
  )
})
