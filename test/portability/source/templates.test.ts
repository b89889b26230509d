import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { createTestApp } from '../../helpers.ts'
import { exportAll, importNew, refuse } from '../fixtures.ts'

const NAMES = ['content-studio', 'research-desk', 'software-team']

test('the templates are listed with who is in them', async (t) => {
  const { ask } = createTestApp(t)
  const { body } = await ask('GET', '/api/templates')
  assert.deepEqual(
    body.map((template: { name: string }) => template.name),
    NAMES,
  )
  for (const { agents, title } of body) {
    assert.equal(agents.filter((agent: { role: string }) => agent.role === 'ceo').length, 1, title)
    assert.equal(agents.filter((agent: { reportsTo: null }) => agent.reportsTo === null).length, 1, title)
  }
})

for (const name of NAMES) {
  test(`a company begins from ${name} without a warning, and goes out the same twice`, async (t) => {
    const app = createTestApp(t)
    const target = { mode: 'new_company', newCompanyName: 'Walrus Ltd' }
    const plan = await app.make('POST', '/api/companies/import/apply', { source: { type: 'template', name }, target })
    assert.deepEqual(plan.warnings, [])
    const { companyId } = plan.target
    const agents = (await app.ask('GET', `/api/companies/${companyId}/agents`)).body
    for (const agent of agents) {
      assert.equal(agent.status, 'idle')
      assert.ok(readFileSync(agent.adapterConfig.instructionsFilePath, 'utf8').length > 500, agent.name)
    }
    const issues = (await app.ask('GET', `/api/companies/${companyId}/issues`)).body
    assert.ok(issues.length > 0 && issues.every((issue: { assigneeAgentId: string }) => issue.assigneeAgentId))
    const first = await exportAll(app, companyId)
    assert.deepEqual(await exportAll(app, (await importNew(app, first)).target.companyId), first)
  })
}

test('a template that there is not is refused with those there are', async (t) => {
  await refuse(createTestApp(t), { source: { type: 'template', name: '../test' } }, /must be one of content-studio/)
})
