import type { TestContext } from 'node:test'
import { insertAgent } from '../../arrange.ts'
import { createTestRuns } from '../../runs.ts'

/**
 * A company with a line of agents: Cleo the CEO, below her Mia, a manager,
 * below her Ada; and Bob, who is outside that line. None of them is started:
 * their wakes stay to be looked at.
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
    /** Makes a routine of Ada's. */
    create: (more: object) => app.make('POST', `${at}/routines`, { ...body, ...more }),
    /** The routine's history, oldest first, without what differs each time. */
    async history({ id }: { id: string }) {
      const { body } = await app.ask('GET', `/api/routines/${id}/history`)
      // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely.
      return body.toReversed().map(({ dueAt, firedAt, outcome, reason }: any) => ({ dueAt, firedAt, outcome, reason }))
    },
    /** The company's issues, oldest first. */
    // biome-ignore lint/suspicious/noExplicitAny: see above.
    issues: async (): Promise<any[]> => (await app.ask('GET', `${at}/issues`)).body.toReversed(),
    /** Moves the clock to a moment and turns the scheduler. */
    async at(moment: string) {
      app.clock.set(moment)
      await app.tick()
    },
  }
}
