import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createTestApp } from '../../helpers.ts'
import { createTestRunsIn, type TestRuns } from '../../runs.ts'

/** Creates test runs over an app with a live-event listener that throws, subscribed before everything else. */
async function createRunsWithThrowingListener(t: TestContext, type: RegExp): Promise<TestRuns> {
  const app = createTestApp(t, { environment: { PATH: process.env.PATH ?? '' }, maxRuns: 4 })
  app.ctx.events.subscribe((event) => {
    if (type.test(event.type)) throw new Error('This listener is broken.')
  })
  return createTestRunsIn(app)
}

test('a live-event listener that throws does not prevent a stop', async (t) => {
  const runs = await createRunsWithThrowingListener(t, /^run\.stopping$/)
  const agent = await runs.agentThat('hang.js')
  await runs.make('POST', `/api/agents/${agent}/heartbeat/invoke`)
  const running = runs.next('run.running')
  await runs.tick()
  await running
  const finished = runs.next('run.finished')
  const [run] = await runs.runs()
  await runs.make('POST', `/api/runs/${run.id}/cancel`)
  await finished
  assert.equal((await runs.runs())[0].status, 'cancelled')
})
