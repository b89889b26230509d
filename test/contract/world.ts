import type { TestContext } from 'node:test'
import { v7 as uuid } from 'uuid'
import { sql } from '../../src/platform/database/sql.ts'
import { insertAgent, type TestAgent } from '../arrange.ts'
import { type Answer, createTestApp, type TestApp } from '../helpers.ts'

/** Two companies, the first with a line of agents: Cleo the CEO, below her Mia, below her Ada; and Bob below Cleo. */
export interface World extends TestApp {
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely.
  company: any
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely.
  other: any
  ceo: TestAgent
  manager: TestAgent
  /** An IC below the manager. */
  engineer: TestAgent
  /** An IC beside the manager. */
  colleague: TestAgent
  /** The CEO of the other company. */
  stranger: TestAgent
  /** The path of something of the first company. */
  of(rest: string): string
  /** Makes an issue of the first company as the board. */
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely.
  issue(body?: object): Promise<any>
  /** Makes a thing of the first company as the board. */
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely.
  thing(noun: 'projects' | 'goals' | 'labels' | 'agents' | 'agent-hires' | 'approvals', body: object): Promise<any>
  /** Puts an approved strategy of the CEO into the database. */
  approveStrategy(): void
}

/** @param app whose `ask` and `make` are the board's */
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

/** The body of a 2xx answer; fails on any other. */
// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely.
export async function good(answer: Promise<Answer> | Answer): Promise<any> {
  const { status, body } = await answer
  if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body
}

/** The status of an answer. */
export const statusOf = async (answer: Promise<Answer>): Promise<number> => (await answer).status
