import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestApp } from '../../helpers.ts'
import { exportAll, importNew, inline, refuse } from '../fixtures.ts'

const COMPANY = { 'COMPANY.md': '---\nname: Otter\nlicense: MIT\n---\n' }
const agent = (text: string) => ({ ...COMPANY, 'agents/kit/AGENTS.md': text })

const READABLE: Record<string, string> = {
  'CR line ends': '---\rname: Kit Ott\r---\rWork.\r',
  'CRLF line ends': '---\r\nname: Kit Ott\r\n---\r\nWork.\r\n',
  'blank lines before the frontmatter': '\n  \n---\nname: Kit Ott\n---\nWork.\n',
  'a byte order mark': '\uFEFF---\nname: Kit Ott\n---\nWork.\n',
}
for (const [title, text] of Object.entries(READABLE)) {
  test(`frontmatter with ${title} is read`, async (t) => {
    const app = createTestApp(t)
    const { target } = await importNew(app, agent(text))
    const [kit] = await app.make('GET', `/api/companies/${target.companyId}/agents`)
    assert.equal(kit.name, 'Kit Ott')
  })
}

test('frontmatter without an end is refused', async (t) => {
  const app = createTestApp(t)
  await refuse(app, { source: inline(agent('---\nname: Kit\n\nWork.\n')) }, /AGENTS\.md: its frontmatter has no end/)
  await refuse(app, { source: inline(agent('---')) }, /has no end/)
})

test('a description with an unquoted colon is read as text, with a warning', async (t) => {
  const app = createTestApp(t)
  const text = '---\nname: Kit\ndescription: Two duties: count and "report": daily\n---\nWork.\n'
  const { target, warnings } = await importNew(app, agent(text))
  const [kit] = await app.make('GET', `/api/companies/${target.companyId}/agents`)
  assert.equal(kit.capabilities, 'Two duties: count and "report": daily')
  assert.match(warnings.find(({ code }: { code: string }) => code === 'frontmatter').message, /without quotes/)
  await refuse(app, { source: inline(agent('---\nname: Kit\nx: a: b\ny: [\n---\n')) }, /not plain YAML/)
})

test('a value that only resembles a list or mapping is read as text, with a warning', async (t) => {
  const app = createTestApp(t)
  const skill =
    '---\nname: count\nargument-hint: [place] [day]\nschema: {id: string, all: {id: string}[]}\n---\nCount.\n'
  const files = { ...COMPANY, 'skills/count/SKILL.md': skill }
  const { target, warnings } = await importNew(app, files)
  assert.match(warnings.find(({ code }: { code: string }) => code === 'frontmatter').message, /without quotes/)
  const exported = await exportAll(app, target.companyId)
  assert.equal(exported['skills/count/SKILL.md'], skill)
})

test('a goal with an unquoted colon is one text', async (t) => {
  const app = createTestApp(t)
  const goals =
    'goals:\n  - Honour four duties: safety, law, risk and care.\n  - title: Grow\n    description: Slowly\n'
  const { target } = await importNew(app, { 'COMPANY.md': `---\nname: Otter\n${goals}---\n` })
  const found = await app.make('GET', `/api/companies/${target.companyId}/goals`)
  assert.deepEqual(
    found.map(({ title, description }: { title: string; description: string }) => [title, description]),
    [
      ['Honour four duties: safety, law, risk and care.', null],
      ['Grow', 'Slowly'],
    ],
  )
})

test('references use the slug of the frontmatter', async (t) => {
  const app = createTestApp(t)
  const { target } = await importNew(app, {
    ...COMPANY,
    'agents/lead/AGENTS.md': '---\nname: Ada\nslug: chief\n---\nLead.\n',
    'agents/kit/AGENTS.md': '---\nname: Kit\nreportsTo: chief\n---\nWork.\n',
    'tasks/count/TASK.md': '---\nname: Count\nassignee: chief\n---\n',
  })
  const agents = await app.make('GET', `/api/companies/${target.companyId}/agents`)
  const of = (name: string) => agents.find((one: { name: string }) => one.name === name)
  assert.equal(of('Kit').reportsTo, of('Ada').id)
  const [issue] = await app.make('GET', `/api/companies/${target.companyId}/issues`)
  assert.equal(issue.assigneeAgentId, of('Ada').id)
})

test('a package with two CEOs is refused', async (t) => {
  const app = createTestApp(t)
  const files = {
    ...COMPANY,
    'agents/ceo/AGENTS.md': '---\nname: Ada\n---\n',
    'agents/boss/AGENTS.md': '---\nname: Bo\ntitle: Chief Executive Officer\n---\n',
  }
  await refuse(app, { source: inline(files) }, /has the role ceo, like boss; a company has one CEO/)
})
