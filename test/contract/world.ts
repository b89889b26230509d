import type { TestContext } from 'node:test'
import { v7 as uuid } from 'uuid'
import { sql } from '../../src/platform/database/sql.ts'
import { insertAgent, type TestAgent } from '../arrange.ts'
import { createTestApp, type TestApp, type TestResponse } from '../helpers.ts'

/** Two companies. In the first one, Mia and Bob report to the CEO Cleo, and Ada reports to Mia. */
export interface World extends TestApp {
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response.
  company: any
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response.
  other: any
  ceo: TestAgent
  manager: TestAgent
  /** An agent without subordinates that reports to the manager. */
  engineer: TestAgent
  /** An agent without subordinates that reports to the CEO. */
  colleague: TestAgent
  /** The CEO of the other company. */
  stranger: TestAgent
  /** Returns a path below the first company. */
  of(rest: string): string
  /** Creates an issue in the first company as the board. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response.
  issue(body?: object): Promise<any>
  /** Creates an entity in the first company as the board. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response.
  thing(noun: 'projects' | 'goals' | 'labels' | 'agents' | 'agent-hires' | 'approvals', body: object): Promise<any>
  /** Inserts an approved strategy of the CEO. */
  approveStrategy(): void
}

/** @param app an app whose `ask` and `make` have the permissions of the board */
export async function createWorld(t: TestContext, company: object = {}, app = createTestApp(t)): Promise<World> {
  const first = await app.make('POST', '/api/companies', { name: 'Walrus', ...company })
  const other = await app.make('POST', '/api/companies', { name: 'Puffin' })
  const here = { company_id: first.id as string, adapter_type: 'runtimeA_local' }
  const ceo = insertAgent(app, { ...here, name: 'Cleo', role: 'ceo', title: 'Chief', url_key: 'cleo' })
  const manager = insertAgent(app, { ...here, name: 'Mia', role: 'manager', reports_to: ceo.id, url_key: 'mia' })
  const engineer = insertAgent(app, { ...here, name: 'Ada', reports_to: manager.id, url_key: 'ada' })
  const colleague = insertAgent(app, { ...here, name: 'Bob', reports_to: ceo.id, url_key: 'bob' })
  const stranger = insertAgent(app, { company_id: other.id, name: 'Sol', role: 'ceo', url_key: 'sol' })
  const of = (rest: string) => `/api/companies/${first.id}${rest}`
  return {
    ...app,
    company: first,
    other,
    ceo,
    manager,
    engineer,
    colleague,
    stranger,
    of,
    issue: (body = {}) => app.make('POST', of('/issues'), { title: 'Count the walruses', ...body }),
    thing: (noun, body) => app.make('POST', of(`/${noun}`), body),
    approveStrategy() {
      const at = app.ctx.now
      app.ctx.db.run(
        sql.insertInto('approval').values({
          id: uuid(),
          company_id: first.id,
          type: 'approve_ceo_strategy',
          status: 'approved',
          requested_by_agent_id: ceo.id,
          payload: '{"plan":"Grow"}',
          decided_at: at,
          created_at: at,
          updated_at: at,
        }),
      )
    },
  }
}

/** Returns the body of a 2xx response, and fails on any other. */
// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response.
export async function good(response: Promise<TestResponse> | TestResponse): Promise<any> {
  const { status, body } = await response
  if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body
}

/** Returns the status of a response. */
export const statusOf = async (response: Promise<TestResponse>): Promise<number> => (await response).status
