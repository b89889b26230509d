import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readPage } from '../../../src/http/list.ts'
import { selectAgents } from '../../../src/organization/agent/queries.ts'
import { countLoad } from '../../../src/organization/instance/queries.ts'
import { countLiveRuns, listLiveRuns, selectRuns } from '../../../src/organization/run/queries.ts'
import { findWaitingWake } from '../../../src/organization/wake/queries.ts'
import { findStartableWake, listStartableWakes } from '../../../src/runtime/scheduler/start-conditions.ts'
import { insertAgent } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'
import { plansOf } from '../../plans.ts'

test('queries for live runs and wakes do not scan finished ones', async (t) => {
  const app = createTestApp(t)
  const { ctx, make } = app
  const { id: companyId } = await make('POST', '/api/companies', { name: 'Acme' })
  const { id: agentId } = insertAgent(app, { company_id: companyId })
  const filter = { companyId, agentId: undefined, issueId: undefined, statuses: undefined }
  const { now } = ctx
  const plans = plansOf(ctx, (db) => {
    countLiveRuns(db)
    countLoad(db, new Set([companyId]))
    listLiveRuns(db)
    listLiveRuns(db, { agentId })
    listLiveRuns(db, { companyId })
    readPage(db, selectRuns({ ...filter, live: true }), { limit: 50 }, { by: 'id', direction: 'desc' })
    readPage(db, selectAgents({ companyId, statuses: ['running'], now }), { limit: 50 }, { by: 'id', table: 'agent' })
    listStartableWakes({ ...ctx, db, now })
    findStartableWake({ ...ctx, db, now }, agentId)
    findWaitingWake(db, { agentId })
  })
  const ofRuns = plans.filter((step) => /\b(SCAN|SEARCH) run\b/.test(step))
  assert.ok(ofRuns.length >= 8, plans.join('\n'))
  for (const step of ofRuns) assert.match(step, /SEARCH run USING( COVERING)? INDEX run_live/)
  const wakes = plans.filter((step) => /\b(SCAN|SEARCH) wake\b/.test(step))
  assert.ok(wakes.length > 0)
  for (const step of wakes)
    assert.match(step, /USING( COVERING)? INDEX (wake_(one_waiting|by_moment)|sqlite_autoindex_wake_1)/)
})
