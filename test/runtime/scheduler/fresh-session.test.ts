import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../../helpers.ts'
import { createTestRuns } from '../../runs.ts'

test('forceFreshSession starts a new session, and later runs continue it', async (t) => {
  const { agentThat, make, runUntilIdle, runs } = await createTestRuns(t, {
    environment: { PATH: process.env.PATH ?? '', HOME: temporaryFolder(t) },
  })
  const agentId = await agentThat('spends-tokens.js', { speaks: 'runtimeB_local', args: ['1', '1'] })
  const invoke = async (body: object) => {
    await make('POST', `/api/agents/${agentId}/wakeup`, body)
    await runUntilIdle()
    return (await runs()).at(-1)
  }
  const { sessionIdBefore, sessionIdAfter } = await invoke({})
  assert.deepEqual([sessionIdBefore, typeof sessionIdAfter], [null, 'string'])
  assert.equal((await invoke({ forceFreshSession: false })).sessionIdBefore, sessionIdAfter)
  assert.equal((await invoke({ forceFreshSession: true })).sessionIdBefore, null)
  assert.equal((await invoke({})).sessionIdBefore, sessionIdAfter)
})
