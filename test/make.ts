import { configOf } from '../src/organization/agent/configuration.ts'
import { findAgent } from '../src/organization/agent/queries.ts'
import { insertAgent } from './arrange.ts'
import type { TestApp } from './helpers.ts'

/** Helpers that create test data through the API as the board. Helpers that insert rows are in arrange.ts. */

/** Creates a company and returns its id. */
export async function makeCompany(app: TestApp, body: Record<string, unknown> = {}): Promise<string> {
  return (await app.make('POST', '/api/companies', { name: 'Acme', ...body })).id
}

/** Creates a company with a CEO and an engineer who reports to it, and another company with a CEO. */
export async function arrangeCompany(app: TestApp) {
  const company = await app.make('POST', '/api/companies', { name: 'Acme' })
  const other = await app.make('POST', '/api/companies', { name: 'Other' })
  const ceo = insertAgent(app, { company_id: company.id, name: 'Chief', role: 'ceo' })
  const engineer = insertAgent(app, { company_id: company.id, name: 'Eve', reports_to: ceo.id })
  const stranger = insertAgent(app, { company_id: other.id, name: 'Stranger', role: 'ceo' })
  return { company, other, ceo, engineer, stranger }
}

/** Creates an agent and returns the response body. */
// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response.
export async function makeAgent(app: TestApp, companyId: string, body: Record<string, unknown> = {}): Promise<any> {
  return app.make('POST', `/api/companies/${companyId}/agents`, { name: 'Ann', ...body })
}

/** Returns the `adapterConfig` of an agent with decrypted secrets. */
export const plainConfig = (app: TestApp, id: string) => configOf(app.ctx, findAgent(app.ctx.db, { id })!).adapterConfig

/** Imports a short skill for each slug. */
export async function importSkills(app: TestApp, companyId: string, ...slugs: string[]): Promise<void> {
  const files = Object.fromEntries(slugs.map((slug) => [`${slug}/SKILL.md`, `---\nname: ${slug}\n---\nDo it.\n`]))
  await app.make('POST', `/api/companies/${companyId}/skills/import`, { files })
}

/** Returns the actions in a company's activity, oldest first. */
export async function actions(app: TestApp, companyId: string): Promise<string[]> {
  const { body } = await app.request('GET', `/api/companies/${companyId}/activity`)
  return body.map((entry: { action: string }) => entry.action).reverse()
}
