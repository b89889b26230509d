import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestApp } from '../../helpers.ts'
import { exportAll, importNew, inline, refuse } from '../fixtures.ts'

const COMPANY = { 'COMPANY.md': '---\nname: Otter\nlicense: MIT\n---\n' }
const skill = (name: string) => `---\nname: ${name}\n---\nText of ${name}.\n`
const messagesOf = (plan: { warnings: { code: string; message: string }[] }, code: string) =>
  plan.warnings.filter((warning) => warning.code === code).map(({ message }) => message)

test('skills in subfolders are imported, and an export contains them by their slugs', async (t) => {
  const app = createTestApp(t)
  const plan = await importNew(app, {
    ...COMPANY,
    'skills/otter/tools/count/SKILL.md': skill('count'),
    'skills/otter/tools/count/references/places.md': 'Places.\n',
    'skills/otter/README.md': 'Tools.\n',
    'skills/draw/SKILL.md': skill('draw'),
    'skills/draw/examples/map/SKILL.md': skill('map'),
    'agents/kit/AGENTS.md': '---\nname: Kit\nskills: [otter/tools/count, draw]\n---\nWork.\n',
  })
  assert.equal(plan.counts.byKind.skill.create, 2)
  assert.deepEqual(messagesOf(plan, 'slug'), ['An export contains this file as skills/count/SKILL.md.'])
  assert.match(messagesOf(plan, 'left_out')[0]!, /^1 files are not part of the layout .*: skills\/otter\/README\.md\.$/)
  const [kit] = await app.make('GET', `/api/companies/${plan.target.companyId}/agents`)
  assert.deepEqual(kit.desiredSkills, ['count', 'draw'])
  const files = Object.keys(await exportAll(app, plan.target.companyId)).filter((path) => path.startsWith('skills/'))
  assert.deepEqual(files, [
    'skills/count/SKILL.md',
    'skills/count/references/places.md',
    'skills/draw/SKILL.md',
    'skills/draw/examples/map/SKILL.md',
  ])
})

test('two skills with the same slug are refused', async (t) => {
  const app = createTestApp(t)
  const files = { ...COMPANY, 'skills/a/count/SKILL.md': skill('count'), 'skills/b/count/SKILL.md': skill('count') }
  await refuse(
    app,
    { source: inline(files) },
    /skills\/b\/count\/SKILL\.md: has the same slug count as skills\/a\/count/,
  )
})

test('the preview names folders whose name is not a slug', async (t) => {
  const app = createTestApp(t)
  const plan = await importNew(app, { ...COMPANY, 'skills/count.api/SKILL.md': skill('count') })
  assert.deepEqual(messagesOf(plan, 'slug'), ['An export contains this file as skills/count-api/SKILL.md.'])
})

test('a file of almost 5 MB in base64 is imported', async (t) => {
  const app = createTestApp(t)
  const image = { encoding: 'base64' as const, data: Buffer.alloc(4_900_000, 0xff).toString('base64') }
  const plan = await importNew(app, { ...COMPANY, 'images/tide.png': image })
  const exported = await exportAll(app, plan.target.companyId)
  // Not deepEqual, which would print megabytes.
  assert.ok((exported['images/tide.png'] as typeof image).data === image.data)
  const broken = { encoding: 'base64', data: 'dGlk*Q==' }
  const response = await app.request('POST', '/api/companies/import/preview', {
    source: inline({ ...COMPANY, 'images/tide.png': broken as never }),
    target: { mode: 'new_company' },
  })
  assert.equal(response.status, 400)
  assert.match(response.body.error, /must be/)
})
