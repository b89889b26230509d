import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ENDPOINTS } from '../../../src/api.ts'
import { readPackage } from '../../../src/portability/read/read-package.ts'
import { readTemplate } from '../../../src/portability/source/templates.ts'
import { ISSUE_STATUSES } from '../../../src/work/issue/lifecycle.ts'
import { createTestApp } from '../../helpers.ts'
import { exportAll, importNew, refuse } from '../fixtures.ts'

const NAMES = [
  'content-studio',
  'daily-intelligence',
  'game-studio',
  'product-team',
  'research-desk',
  'review-desk',
  'security-audit',
  'software-team',
]

test('the list of templates includes their agents', async (t) => {
  const { request } = createTestApp(t)
  const { body } = await request('GET', '/api/templates')
  assert.deepEqual(
    body.map((template: { name: string }) => template.name),
    NAMES,
  )
  for (const { agents, title, description } of body) {
    assert.equal(agents.filter((agent: { role: string }) => agent.role === 'ceo').length, 1, title)
    assert.equal(agents.filter((agent: { reportsTo: null }) => agent.reportsTo === null).length, 1, title)
    assert.ok(description.length <= 90 && !description.includes('\n'), `${title}: ${description}`)
  }
})

for (const name of NAMES) {
  test(`a company is created from ${name} without warnings, and a round trip gives an identical export`, async (t) => {
    const app = createTestApp(t)
    const target = { mode: 'new_company', newCompanyName: 'Walrus Ltd' }
    const plan = await app.make('POST', '/api/companies/import/apply', { source: { type: 'template', name }, target })
    assert.deepEqual(plan.warnings, [])
    const { companyId } = plan.target
    const agents = (await app.request('GET', `/api/companies/${companyId}/agents`)).body
    for (const agent of agents) {
      assert.equal(agent.status, 'idle')
      assert.ok(readFileSync(agent.adapterConfig.instructionsFilePath, 'utf8').length > 500, agent.name)
    }
    const issues = (await app.request('GET', `/api/companies/${companyId}/issues`)).body
    assert.ok(issues.length > 0 && issues.every((issue: { assigneeAgentId: string }) => issue.assigneeAgentId))
    const first = await exportAll(app, companyId)
    assert.deepEqual(await exportAll(app, (await importNew(app, first)).target.companyId), first)
  })
}

for (const name of NAMES) {
  test(`the texts of ${name} name agents, skills, statuses and endpoints that exist`, async () => {
    const { content, warnings } = readPackage(await readTemplate(name))
    assert.deepEqual(warnings, [])
    const { agents, skills, tasks, routines, projects, goals, company } = content
    const names = new Set(agents.map((agent) => agent.name))
    const slugs = new Set(skills.map((skill) => skill.slug))
    const texts = [
      ...agents.map((agent) => [agent.slug, agent.instructions]),
      ...skills.map((skill) => [skill.slug, Buffer.from(skill.files.get('SKILL.md')!).toString()]),
      ...[...tasks, ...routines, ...projects].map((one) => [one.slug, one.description ?? '']),
      ['COMPANY.md', company.about.body],
    ] as const
    for (const [where, text] of texts) {
      assert.ok(text.length > 80, where)
      for (const [, mentioned] of text.matchAll(/(?<![\w/])@([A-Z][a-z]+)/g)) {
        assert.ok(names.has(mentioned!), `${where}: @${mentioned}`)
      }
      for (const [, skill] of text.matchAll(/skills? `([a-z-]+)`/g)) assert.ok(slugs.has(skill!), `${where}: ${skill}`)
      for (const [, status] of text.matchAll(/[sS]tatus `([a-z_]+)`/g)) {
        assert.ok((ISSUE_STATUSES as readonly string[]).includes(status!), `${where}: ${status}`)
      }
      for (const [, method, path] of text.matchAll(/\b(GET|POST|PUT|PATCH) (\/api\/[\w/:.-]+\w)/g)) {
        if (!path!.includes(':companyId') && !path!.includes(':issueId')) continue // an example in a skill
        const shape = path!.replace(/documents\/[a-z]+/, 'documents/:key')
        assert.ok(
          ENDPOINTS.some((endpoint) => endpoint.method === method && endpoint.path === shape),
          `${where}: ${path}`,
        )
      }
    }
    assert.match(company.about.body, /workspace/)
    assert.ok(projects.every((project) => /\*\*Workspace:\*\*/.test(project.description ?? '')))
    assert.ok(routines.length > 0 && goals.length > 0 && company.budgetMonthlyCents > 0)
    assert.ok(agents.every((agent) => agent.budgetMonthlyCents > 0 && agent.icon && agent.skills.length > 0))
    const used = new Set(agents.flatMap((agent) => agent.skills))
    assert.deepEqual(
      [...slugs].filter((slug) => !used.has(slug)),
      [],
      'every skill has an agent',
    )
  })
}

test('an unknown template is refused, and the error lists the available templates', async (t) => {
  await refuse(createTestApp(t), { source: { type: 'template', name: '../test' } }, /must be one of content-studio/)
})
