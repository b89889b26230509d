import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { createTestApp } from '../../helpers.ts'
import { exportAll, filesOf, importNew, PACKAGES } from '../fixtures.ts'

for (const name of readdirSync(PACKAGES)) {
  test(`${name} is imported without errors, and a round trip gives an identical export`, async (t) => {
    const app = createTestApp(t)
    const files = filesOf(path.join(PACKAGES, name))
    const plan = await importNew(app, files)
    assert.equal(plan.counts.create, plan.entities.length)
    const agents = Object.keys(files).filter((file) => file.startsWith('agents/')).length
    assert.equal(plan.counts.byKind.agent.create, agents)

    const first = await exportAll(app, plan.target.companyId)
    const again = await importNew(app, first)
    assert.deepEqual(again.counts, plan.counts)
    const second = await exportAll(app, again.target.companyId)
    assert.deepEqual(Object.keys(second), Object.keys(first))
    assert.deepEqual(second, first)
    assert.deepEqual(second.LICENSE, files.LICENSE)
  })
}
