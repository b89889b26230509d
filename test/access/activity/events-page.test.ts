import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import * as v from 'valibot'
import { ACTIONS } from '../../../src/access/activity/actions.ts'
import { ActivityEvent, ENTITY_SUMMARIES, OTHER_EVENTS } from '../../../src/access/activity/live-events.ts'
import type { LiveEvent } from '../../../src/platform/events.ts'
import { packageRoot } from '../../../src/platform/package-root.ts'
import { EVENTS_PAGE, generateEvents } from '../../../tools/generate-events.ts'
import { insertAgent } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'

test('docs/reference/events.md is the output of tools/generate-events.ts and lists every event', () => {
  const page = readFileSync(EVENTS_PAGE, 'utf8')
  assert.equal(page, generateEvents())
  for (const type of Object.keys(ACTIONS)) assert.ok(page.includes(`| \`${type}\` |`), type)
  for (const type of Object.keys(OTHER_EVENTS)) assert.ok(page.includes(`### ${type}\n`), type)
})

test('only the two typed functions publish events', () => {
  const root = packageRoot()
  const files = globSync('src/**/*.ts', { cwd: root }).filter((file) =>
    /\bevents\.publish\(/.test(readFileSync(path.join(root, file), 'utf8')),
  )
  assert.deepEqual(files.toSorted(), ['src/access/activity/live-events.ts', 'src/access/activity/record.ts'])
})

test('the data of each event matches its description in the reference', async (t) => {
  const { ctx, as, make } = createTestApp(t)
  const received: LiveEvent[] = []
  ctx.events.subscribe((event) => received.push(event))
  const { id } = await make('POST', '/api/companies', { name: 'Acme' })
  const kit = insertAgent({ ctx, as }, { company_id: id, name: 'Kit' })
  await make('PATCH', `/api/agents/${kit.id}`, { title: 'Cartographer' })
  await make('POST', `/api/companies/${id}/goals`, { title: 'Map the coast' })
  await make('POST', `/api/companies/${id}/projects`, { name: 'Survey' })
  await make('POST', `/api/companies/${id}/labels`, { name: 'urgent', color: '#aa0000' })
  await make('POST', `/api/companies/${id}/issues`, { title: 'Draw', assigneeAgentId: kit.id })
  await make('POST', `/api/companies/${id}/approvals`, {
    type: 'request_board_approval',
    payload: { title: 'Buy ink?' },
  })
  await make('PATCH', `/api/companies/${id}`, { budgetMonthlyCents: 5_000 })
  await make('DELETE', `/api/companies/${id}`, { confirm: 'Acme' })
  for (const { type, data } of received) {
    if (type in OTHER_EVENTS) {
      assert.ok(v.is(OTHER_EVENTS[type as keyof typeof OTHER_EVENTS].data, data), type)
      continue
    }
    const event = v.parse(ActivityEvent, data)
    assert.equal(event.entityType, ACTIONS[type as keyof typeof ACTIONS].entity)
    const fields = ENTITY_SUMMARIES[event.entityType as keyof typeof ENTITY_SUMMARIES] as readonly string[] | undefined
    if (event.entity) assert.deepEqual(Object.keys(event.entity), fields)
  }
  const types = new Set(received.map(({ type }) => type))
  for (const type of ['issue.created', 'wake.waiting', 'label.created', 'company.budget_changed', 'company.deleted']) {
    assert.ok(types.has(type), type)
  }
})
