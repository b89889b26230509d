import type { TestContext } from 'node:test'
import { insertAgent } from '../../arrange.ts'
import { createTestRuns } from '../../runs.ts'

/**
 * Creates a company with a reporting line: Cleo (CEO), Mia (manager) and Ada,
 * and with Bob, an agent outside that line. No agent is started, so tests can
 * read the queued wakes.
 */
export async function setUp(t: TestContext) {
  const app = await createTestRuns(t)
  const of = { company_id: app.companyId, adapter_type: 'none' }
  const cleo = insertAgent(app, { ...of, name: 'Cleo', role: 'ceo' })
  const mia = insertAgent(app, { ...of, name: 'Mia', reports_to: cleo.id })
  const ada = insertAgent(app, { ...of, name: 'Ada', reports_to: mia.id })
  const bob = insertAgent(app, { ...of, name: 'Bob' })
  const at = `/api/companies/${app.companyId}`
  const body = { title: 'Sweep the floor', assigneeAgentId: ada.id }
  return {
    ...app,
    ...{ cleo, mia, ada, bob, body },
    routines: `${at}/routines`,
    /** Creates a routine with the assignee Ada. */
    create: (more: object) => app.make('POST', `${at}/routines`, { ...body, ...more }),
    /** Returns the history of a routine, oldest first, without ids and timestamps. */
    async history({ id }: { id: string }) {
      const { body } = await app.request('GET', `/api/routines/${id}/history`)
      // biome-ignore lint/suspicious/noExplicitAny: the tests read arbitrary fields of responses.
      return body.toReversed().map(({ dueAt, firedAt, outcome, reason }: any) => ({ dueAt, firedAt, outcome, reason }))
    },
    /** Returns the issues of the company, oldest first. */
    // biome-ignore lint/suspicious/noExplicitAny: see above.
    issues: async (): Promise<any[]> => (await app.request('GET', `${at}/issues`)).body.toReversed(),
    /** Sets the clock and runs one scheduler tick. */
    async at(moment: string) {
      app.clock.set(moment)
      await app.tick()
    },
  }
}
