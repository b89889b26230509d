import assert from 'node:assert/strict'
import { insertMembership } from '../../src/access/board/membership-queries.ts'
import { insertUser } from '../../src/access/board/user-queries.ts'
import { contract } from './contract.ts'
import { good, statusOf, type World } from './world.ts'

/** A package of one agent, which may have the name of an existing one. */
const files = (name: string) => ({
  'COMPANY.md': '---\nname: Narwhal\nslug: narwhal\nschema: agentcompanies/v1\n---\nA company.\n',
  [`agents/${name.toLowerCase()}/AGENTS.md`]: `---\nname: ${name}\ntitle: Guest\n---\nYou count.\n`,
})

const importBody = (world: World, more: object = {}) => ({
  source: { type: 'inline', files: files('Nia') },
  include: { company: false, agents: true, projects: true, issues: true },
  target: { mode: 'existing_company', companyId: world.company.id },
  collisionStrategy: 'rename',
  ...more,
})

const preview = (world: World, more?: object) =>
  world.request('POST', world.of('/imports/preview'), importBody(world, more))
const apply = (world: World, more?: object) =>
  world.request('POST', world.of('/imports/apply'), importBody(world, more))

const agentNames = async ({ request }: World, companyId: string): Promise<string[]> =>
  (await good(request('GET', `/api/companies/${companyId}/agents`))).map(({ name }: { name: string }) => name)

const exported = async (world: World, body: object): Promise<string[]> =>
  Object.keys((await good(world.request('POST', world.of('/exports'), body))).files)

contract('Portability endpoints', {
  'POST /api/companies/:companyId/imports/preview': async (world) => {
    assert.match(JSON.stringify(await good(preview(world))), /Nia/)
    assert.ok(!(await agentNames(world, world.company.id)).includes('Nia'), 'a preview changes nothing')
  },
  'POST /api/companies/:companyId/imports/apply': async (world) => {
    await good(apply(world))
    assert.ok((await agentNames(world, world.company.id)).includes('Nia'))
  },
  'POST /api/companies/:companyId/exports/preview': async (world) => {
    assert.match(JSON.stringify(await good(world.request('POST', world.of('/exports/preview'), {}))), /agents\/ada/)
  },
  'POST /api/companies/:companyId/exports': async (world) => {
    const paths = await exported(world, { include: { company: true, agents: true, projects: true, issues: false } })
    assert.ok(paths.includes('COMPANY.md') && paths.includes('agents/ada/AGENTS.md'), `${paths}`)
  },
  'Import body: source has a type and a url': async (world) => {
    for (const source of [{}, { type: 'github' }, { type: 'floppy', url: 'https://git.example/a/b' }]) {
      assert.equal(await statusOf(preview(world, { source })), 400, JSON.stringify(source))
    }
  },
  'Import body: include has booleans for company, agents, projects and issues': async (world) => {
    await good(apply(world, { include: { company: true, agents: false, projects: false, issues: false } }))
    assert.ok(!(await agentNames(world, world.company.id)).includes('Nia'))
    assert.equal(await statusOf(preview(world, { include: { agents: 'yes' } })), 400)
  },
  'Import body: target is existing_company with companyId, or new_company with newCompanyName': async (world) => {
    for (const target of [{ mode: 'existing_company', companyId: world.company.id }, fresh('Narwhal')]) {
      assert.ok((await statusOf(preview(world, { target }))) < 300, target.mode)
    }
    assert.equal(await statusOf(preview(world, { target: { mode: 'no_company' } })), 400)
  },
  'Import body: collisionStrategy is rename; replace is rejected': async (world) => {
    await good(preview(world, { collisionStrategy: 'rename' }))
    const status = await statusOf(preview(world, { collisionStrategy: 'replace' }))
    assert.ok(status === 400 || status === 422, `${status}`)
  },
  'Export body: include, and selectedFiles that narrows the package': async (world) => {
    const include = { company: true, agents: true, projects: false, issues: false }
    const selectedFiles = ['agents/ada/AGENTS.md']
    const paths = await exported(world, { include, selectedFiles })
    assert.ok(paths.includes('agents/ada/AGENTS.md') && !paths.includes('agents/bob/AGENTS.md'), `${paths}`)
  },
  'Import: into an existing company it only creates, or skips collisions': async (world) => {
    const { engineer, request } = world
    const before = await good(request('GET', `/api/agents/${engineer.id}`))
    await good(apply(world, { source: { type: 'inline', files: files('Ada') } }))
    assert.deepEqual(await good(request('GET', `/api/agents/${engineer.id}`)), before)
  },
  'Import: new_company is allowed, and copies the active user memberships of the source company': async (world) => {
    const { ctx, company } = world
    const ann = { name: 'Ann', email: 'ann@walrus.example', passwordHash: 'x', mayCreateCompanies: false }
    await ctx.write(() => {
      const user_id = insertUser(ctx.db, ann, ctx.now)
      insertMembership(ctx.db, { company_id: company.id, user_id, role: 'admin', created_at: ctx.now })
    })
    await good(apply(world, { target: fresh('Narwhal'), include: { company: true, agents: true } }))
    const companies = await good(world.request('GET', '/api/companies'))
    const made = companies.find(({ name }: { name: string }) => name === 'Narwhal')
    assert.deepEqual(await agentNames(world, made.id), ['Nia'])
    const [member] = await good(world.request('GET', `/api/companies/${made.id}/members`))
    assert.deepEqual([member.email, member.role], ['ann@walrus.example', 'admin'])
  },
  'Export: a preview leaves issues out unless they are asked for': async (world) => {
    await world.issue({ title: 'Left out' })
    const request = async (body: object) =>
      JSON.stringify(await good(world.request('POST', world.of('/exports/preview'), body)))
    assert.doesNotMatch(await request({}), /left-out/)
    assert.match(await request({ include: { issues: true } }), /left-out/)
  },
})

const fresh = (newCompanyName: string) => ({ mode: 'new_company', newCompanyName })

contract('Skill endpoints', {
  'GET /api/companies/:companyId/skills': async ({ engineer, of }) => {
    const skills = await good(engineer.request('GET', of('/skills')))
    for (const skill of skills) assert.ok(skill.key && skill.slug && skill.name)
  },
  'POST /api/companies/:companyId/skills/import': async ({ make, request, of }) => {
    const skill = { 'SKILL.md': '---\nname: tides\ndescription: Read a tide table.\n---\nRead it.\n' }
    await make('POST', of('/skills/import'), { files: skill })
    const slugs = (await good(request('GET', of('/skills')))).map(({ slug }: { slug: string }) => slug)
    assert.ok(slugs.includes('tides'), `${slugs}`)
  },
})

contract('Guide endpoints', {
  'GET /llms/agent-configuration.txt': async (world) => {
    const text = await guide(world, '/llms/agent-configuration.txt')
    for (const printed of ['runtimeA_local', 'runtimeB_local', 'adapterConfig', 'agent-hires']) {
      assert.ok(text.includes(printed), printed)
    }
  },
  'GET /llms/agent-configuration/:adapterType.txt': async (world) => {
    for (const adapterType of ['runtimeA_local', 'runtimeB_local', 'process', 'http']) {
      const text = await guide(world, `/llms/agent-configuration/${adapterType}.txt`)
      assert.ok(text.includes(adapterType))
    }
    assert.equal(await statusOf(world.request('GET', '/llms/agent-configuration/no-such-adapter.txt')), 404)
  },
  'GET /llms/agent-icons.txt': async (world) => {
    assert.ok((await guide(world, '/llms/agent-icons.txt')).trim().split('\n').length > 5)
  },
})

async function guide({ engineer }: World, path: string): Promise<string> {
  const { status, headers, body } = await engineer.request('GET', path)
  assert.equal(status, 200)
  assert.match(headers.get('content-type') ?? '', /^text\/plain/)
  return body
}
