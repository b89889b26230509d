import type { TestContext } from 'node:test'
import { insertAgent } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'

/**
 * Creates a company with a reporting line: Cleo (CEO), Mia (manager) and Ada,
 * and with Bob, an agent outside that line.
 */
export async function setUp(t: TestContext) {
  const app = createTestApp(t)
  const company = await app.make('POST', '/api/companies', { name: 'Walrus' })
  const of = { company_id: company.id }
  const cleo = insertAgent(app, { ...of, name: 'Cleo', role: 'ceo' })
  const mia = insertAgent(app, { ...of, name: 'Mia', reports_to: cleo.id })
  const ada = insertAgent(app, { ...of, name: 'Ada', reports_to: mia.id })
  const bob = insertAgent(app, { ...of, name: 'Bob' })
  const create = (body: object = {}) =>
    app.make('POST', `/api/companies/${company.id}/issues`, { title: 'Do', ...body })
  const patch = (issue: { id: string }, body: object) => app.make('PATCH', `/api/issues/${issue.id}`, body)
  const activity = async () => (await app.request('GET', `/api/companies/${company.id}/activity`)).body
  return {
    ...app,
    company,
    cleo,
    mia,
    ada,
    bob,
    create,
    patch,
    activity,
    issues: `/api/companies/${company.id}/issues`,
  }
}
