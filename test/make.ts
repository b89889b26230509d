import { configOf } from '../src/organization/agent/configuration.ts'
import { findAgent } from '../src/organization/agent/queries.ts'
import { insertAgent } from './arrange.ts'
import type { TestApp } from './helpers.ts'

/** What tests make as the board does, through the API; rows are in arrange.ts. */

/** Makes a company and returns its id. */
export async function makeCompany(app: TestApp, body: Record<string, unknown> = {}): Promise<string> {
  return (await app.make('POST', '/api/companies', { name: 'Acme', ...body })).id
}

/** Makes a company with its CEO, an engineer below it, and an engineer of another company. */
export async function arrangeCompany(app: TestApp) {
  const company = await app.make('POST', '/api/companies', { name: 'Acme' })
  const other = await app.make('POST', '/api/companies', { name: 'Other' })
  const ceo = insertAgent(app, { company_id: company.id, name: 'Chief', role: 'ceo' })
  const engineer = insertAgent(app, { company_id: company.id, name: 'Eve', reports_to: ceo.id })
  const stranger = insertAgent(app, { company_id: other.id, name: 'Stranger', role: 'ceo' })
  return { company, other, ceo, engineer, stranger }
}

/** Makes an agent and returns its answer. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely.
export async function makeAgent(app: TestApp, companyId: string, body: Record<string, unknown> = {}): Promise<any> {
  return app.make('POST', `/api/companies/${companyId}/agents`, { name: 'Ann', ...body })
}

/** The `adapterConfig` that an agent runs with, its secrets in plain. */
export const plainConfig = (app: TestApp, id: string) => configOf(app.ctx, findAgent(app.ctx.db, { id })!).adapterConfig

/** Imports a skill of a few words for each slug. */
export async function importSkills(app: TestApp, companyId: string, ...slugs: string[]): Promise<void> {
  const files = Object.fromEntries(slugs.map((slug) => [`${slug}/SKILL.md`, `---\nname: ${slug}\n---\nDo it.\n`]))
  await app.make('POST', `/api/companies/${companyId}/skills/import`, { files })
}

/** The actions in a company's activity, oldest first. */
export async function actions(app: TestApp, companyId: string): Promise<string[]> {
  const { body } = await app.ask('GET', `/api/companies/${companyId}/activity`)
  return body.map((entry: { action: string }) => entry.action).reverse()
}
