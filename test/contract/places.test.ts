import assert from 'node:assert/strict'
import { contract } from './contract.ts'
import { good, statusOf, type World } from './world.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const ids = (list: { id: string }[]) => list.map(({ id }) => id)

/** Returns whether the CEO and the board may set a field of the company, and its value afterwards. */
async function edited({ request, ceo, of }: World, field: string, byCeo: unknown, byBoard: unknown) {
  const status = await statusOf(ceo.request('PATCH', of(''), { [field]: byCeo }))
  const afterCeo = (await good(request('GET', of(''))))[field]
  await good(request('PATCH', of(''), { [field]: byBoard }))
  return { status, afterCeo, afterBoard: (await good(request('GET', of(''))))[field] }
}

async function isCeoEditable(world: World, field: string, one: unknown, two: unknown) {
  assert.deepEqual(await edited(world, field, one, two), { status: 200, afterCeo: one, afterBoard: two })
}

async function isBoardOnly(world: World, field: string, value: unknown) {
  const before = (await good(world.request('GET', world.of(''))))[field]
  assert.deepEqual(await edited(world, field, value, value), { status: 403, afterCeo: before, afterBoard: value })
}

const uploadLogo = async ({ request, of }: World): Promise<string> => {
  const form = new FormData()
  form.set('file', new File(['<svg xmlns="http://www.w3.org/2000/svg"/>'], 'logo.svg'))
  return (await good(request('POST', of('/logo'), form))).assetId
}

contract('Company', {
  'Company.id is the identifier': ({ company }) => assert.match(company.id, UUID),
  'Company.name is CEO-editable': (world) => isCeoEditable(world, 'name', 'One', 'Two'),
  'Company.description is CEO-editable': (world) => isCeoEditable(world, 'description', 'One', 'Two'),
  'Company.brandColor is a hex colour with # or null, and CEO-editable': async (world) => {
    await isCeoEditable(world, 'brandColor', '#1A2b3c', null)
    for (const brandColor of ['1a2b3c', '#1a2', 'red']) {
      assert.equal(await statusOf(world.request('PATCH', world.of(''), { brandColor })), 400, brandColor)
    }
  },
  'Company.logoAssetId comes from the logo upload or is null, and is CEO-editable': async (world) => {
    await isCeoEditable(world, 'logoAssetId', await uploadLogo(world), null)
    assert.equal(await statusOf(world.request('PATCH', world.of(''), { logoAssetId: world.company.id })), 422)
  },
  'Company.status is edited by the board only': (world) => isBoardOnly(world, 'status', 'paused'),
  'Company.budgetMonthlyCents is edited by the board only': (world) => isBoardOnly(world, 'budgetMonthlyCents', 900),
  'Company.spentMonthlyCents is edited by the board only': (world) => isBoardOnly(world, 'spentMonthlyCents', 700),
  'Company.requireBoardApprovalForNewAgents is edited by the board only; when true, hires create an approval': async (
    world,
  ) => {
    await isBoardOnly(world, 'requireBoardApprovalForNewAgents', true)
    assert.equal((await world.thing('agent-hires', { name: 'Nia' })).approval.status, 'pending')
  },
  'Company.issuePrefix begins the identifiers of issues and cannot be changed by any caller': async (world) => {
    const { company, issue, request, ceo, of } = world
    assert.equal((await issue()).identifier, `${company.issuePrefix}-1`)
    for (const by of [request, ceo.request]) {
      assert.equal(await statusOf(by('PATCH', of(''), { name: 'Other', issuePrefix: 'NEW' })), 400)
    }
    assert.deepEqual(await good(request('GET', of(''))), { ...company, issueCounter: 1 })
  },
})

contract('Company endpoints', {
  'GET /api/companies': async ({ request, engineer, company, other }) => {
    assert.deepEqual(ids(await good(request('GET', '/api/companies'))), [company.id, other.id])
    assert.deepEqual(ids(await good(engineer.request('GET', '/api/companies'))), [company.id])
  },
  'GET /api/companies/:companyId': async ({ request, ceo, manager, stranger, of, company }) => {
    assert.deepEqual(await good(request('GET', of(''))), company)
    assert.deepEqual(await good(ceo.request('GET', of(''))), company)
    assert.deepEqual(
      [await statusOf(manager.request('GET', of(''))), await statusOf(stranger.request('GET', of('')))],
      [403, 403],
    )
  },
  'PATCH /api/companies/:companyId': async ({ request, ceo, manager, of }) => {
    const branding = { name: 'Walrus & Co', description: 'Counts.', brandColor: '#123456', logoAssetId: null }
    const after = await good(ceo.request('PATCH', of(''), branding))
    for (const [key, value] of Object.entries(branding)) assert.equal(after[key], value)
    assert.equal(await statusOf(ceo.request('PATCH', of(''), { name: 'No', status: 'paused' })), 403)
    assert.equal(await statusOf(manager.request('PATCH', of(''), { name: 'No' })), 403)
    const rest = {
      status: 'active',
      budgetMonthlyCents: 9,
      spentMonthlyCents: 8,
      requireBoardApprovalForNewAgents: true,
    }
    const { name } = await good(request('PATCH', of(''), rest))
    assert.equal(name, 'Walrus & Co')
  },
  'POST /api/companies/:companyId/logo': async (world) => {
    const { request, of } = world
    const logoAssetId = await uploadLogo(world)
    const { logoUrl } = await good(request('PATCH', of(''), { logoAssetId }))
    assert.equal((await request('GET', logoUrl)).headers.get('content-type'), 'image/svg+xml')
  },
  'POST /api/companies/:companyId/gateway/invite-prompt': async (world) => {
    const { request, ceo, manager, of, clock } = world
    const path = of('/gateway/invite-prompt')
    const prompt = await good(ceo.request('POST', path, { agentMessage: 'Welcome aboard.' }))
    const text = JSON.stringify(prompt)
    const expiry = /"(?:\w*)[eE]xpires\w*":"([^"]+)"/.exec(text)?.[1] ?? ''
    assert.ok(Date.parse(expiry) > clock.now().getTime(), `it expires: ${text}`)
    const url = /"\w*[uU]rl\w*":"([^"]+)"/.exec(text)?.[1] ?? ''
    const onboarding = await request('GET', url.replace(/^https?:\/\/[^/]+/, ''))
    assert.equal(onboarding.status, 200)
    assert.match(onboarding.body, /Welcome aboard\./)
    assert.ok(Object.keys(prompt).some((key) => /token/i.test(key)))
    assert.ok((await statusOf(request('POST', path, {}))) < 300)
    assert.equal(await statusOf(manager.request('POST', path, {})), 403)
  },
  'GET /api/companies/:companyId/dashboard': async ({ engineer, stranger, of }) => {
    assert.equal(await statusOf(engineer.request('GET', of('/dashboard'))), 200)
    assert.equal(await statusOf(stranger.request('GET', of('/dashboard'))), 403)
  },
})

contract('Project', {
  'Project.id is the identifier': async ({ thing }) => assert.match((await thing('projects', { name: 'A' })).id, UUID),
  'Project.name': async ({ thing, request, of }) => {
    assert.equal((await thing('projects', { name: 'Atlas' })).name, 'Atlas')
    assert.equal(await statusOf(request('POST', of('/projects'), {})), 400)
  },
  'Project.description': async ({ thing }) => {
    assert.equal((await thing('projects', { name: 'A', description: 'All.' })).description, 'All.')
  },
  'Project.status is active, planned and the like': async ({ thing, request, of }) => {
    for (const status of ['active', 'planned'])
      assert.equal((await thing('projects', { name: 'A', status })).status, status)
    assert.equal(await statusOf(request('POST', of('/projects'), { name: 'A', status: 'no' })), 400)
  },
  'Project.goalId is the goal it serves; goalIds are sent on create': async ({ thing }) => {
    const [one, two] = [await thing('goals', { title: 'One' }), await thing('goals', { title: 'Two' })]
    const project = await thing('projects', { name: 'A', goalIds: [one.id, two.id] })
    assert.equal(project.goalId, one.id)
  },
  'Project.primaryWorkspace is the workspace flagged primary': async ({ thing, make, request }) => {
    const { id } = await thing('projects', { name: 'A', workspace: { cwd: '/one' } })
    await make('POST', `/api/projects/${id}/workspaces`, { cwd: '/two', isPrimary: true })
    const { primaryWorkspace, workspaces } = await good(request('GET', `/api/projects/${id}`))
    assert.equal(primaryWorkspace.cwd, '/two')
    assert.deepEqual(
      workspaces.map(({ isPrimary }: { isPrimary: boolean }) => isPrimary),
      [false, true],
    )
  },
  'Project.workspaces': async ({ thing }) => {
    assert.deepEqual((await thing('projects', { name: 'A' })).workspaces, [])
    assert.equal((await thing('projects', { name: 'B', workspace: { cwd: '/one' } })).workspaces.length, 1)
  },
})

/** Returns a workspace of a new project. */
async function workspace({ thing, make }: World, body: object) {
  const { id } = await thing('projects', { name: 'Atlas' })
  return make('POST', `/api/projects/${id}/workspaces`, body)
}

contract('Workspace', {
  'Workspace.id is the identifier': async (world) => assert.match((await workspace(world, { cwd: '/a' })).id, UUID),
  'Workspace.name': async (world) => assert.equal((await workspace(world, { name: 'web', cwd: '/a' })).name, 'web'),
  'Workspace.cwd is a local directory, optional': async (world) => {
    assert.equal((await workspace(world, { cwd: '/srv/a' })).cwd, '/srv/a')
  },
  'Workspace.repoUrl is a repository, optional': async (world) => {
    const repoUrl = 'https://git.example/walrus/web.git'
    assert.equal((await workspace(world, { repoUrl })).repoUrl, repoUrl)
    assert.equal((await workspace(world, { cwd: '/a' })).repoUrl, null)
  },
  'Workspace.repoRef is a branch or reference': async (world) => {
    const repoUrl = 'https://git.example/walrus/web.git'
    assert.equal((await workspace(world, { repoUrl, repoRef: 'release/2' })).repoRef, 'release/2')
  },
  'Workspace.isPrimary is true for the first of a project by default': async (world) => {
    const first = await workspace(world, { cwd: '/a' })
    const second = await world.make('POST', `/api/projects/${first.projectId}/workspaces`, { cwd: '/b' })
    assert.deepEqual([first.isPrimary, second.isPrimary], [true, false])
  },
  'Workspace: at least one of cwd and repoUrl is required, and a repository-only one omits cwd': async (world) => {
    const { cwd, projectId } = await workspace(world, { repoUrl: 'https://git.example/walrus/web.git' })
    assert.equal(cwd, null)
    assert.equal(await statusOf(world.request('POST', `/api/projects/${projectId}/workspaces`, { name: 'x' })), 400)
  },
})

contract('Goal', {
  'Goal.id is the identifier': async ({ thing }) => assert.match((await thing('goals', { title: 'A' })).id, UUID),
  'Goal.title': async ({ thing, request, of }) => {
    assert.equal((await thing('goals', { title: 'Know the sea' })).title, 'Know the sea')
    assert.equal(await statusOf(request('POST', of('/goals'), {})), 400)
  },
  'Goal.description': async ({ thing }) => {
    assert.equal((await thing('goals', { title: 'A', description: 'All.' })).description, 'All.')
  },
  'Goal.level is company, team, agent or task, from the top down': async ({ thing, request, of }) => {
    let parentId: string | undefined
    for (const level of ['company', 'team', 'agent', 'task']) {
      const goal = await thing('goals', { title: level, level, ...(parentId && { parentId }) })
      assert.equal(goal.level, level)
      parentId = goal.id
    }
    assert.equal(await statusOf(request('POST', of('/goals'), { title: 'Up', level: 'company', parentId })), 422)
  },
  'Goal.status is active and the like': async ({ thing, request, of }) => {
    assert.equal((await thing('goals', { title: 'A', status: 'active' })).status, 'active')
    assert.equal(await statusOf(request('POST', of('/goals'), { title: 'A', status: 'no' })), 400)
  },
})

contract('Project endpoints', {
  'GET /api/companies/:companyId/projects': async ({ thing, engineer, of }) => {
    const made = [await thing('projects', { name: 'One' }), await thing('projects', { name: 'Two' })]
    assert.deepEqual(ids(await good(engineer.request('GET', of('/projects')))), ids(made))
  },
  'GET /api/projects/:projectId': async ({ thing, engineer, stranger }) => {
    const project = await thing('projects', { name: 'One', workspace: { cwd: '/one' } })
    assert.deepEqual(await good(engineer.request('GET', `/api/projects/${project.id}`)), project)
    assert.deepEqual(project.primaryWorkspace, project.workspaces[0])
    assert.equal(await statusOf(stranger.request('GET', `/api/projects/${project.id}`)), 404)
  },
  'POST /api/companies/:companyId/projects': async ({ thing }) => {
    const goal = await thing('goals', { title: 'Know the sea' })
    const inline = { name: 'web', cwd: '/srv/web', repoUrl: 'https://git.example/web.git', repoRef: 'main' }
    const body = { name: 'One', description: 'All.', status: 'planned', goalIds: [goal.id], workspace: inline }
    const project = await thing('projects', body)
    assert.deepEqual([project.name, project.description, project.status], ['One', 'All.', 'planned'])
    for (const [key, value] of Object.entries(inline)) assert.equal(project.primaryWorkspace[key], value)
  },
  'PATCH /api/projects/:projectId': async ({ thing, make }) => {
    const { id } = await thing('projects', { name: 'One' })
    const { name, status } = await make('PATCH', `/api/projects/${id}`, { name: 'Two', status: 'active' })
    assert.deepEqual([name, status], ['Two', 'active'])
  },
  'GET /api/projects/:projectId/workspaces': async (world) => {
    const { id, projectId } = await workspace(world, { cwd: '/a' })
    assert.deepEqual(ids(await good(world.engineer.request('GET', `/api/projects/${projectId}/workspaces`))), [id])
  },
  'POST /api/projects/:projectId/workspaces': async (world) => {
    const body = { name: 'web', cwd: '/a', repoUrl: 'https://git.example/web.git', repoRef: 'main', isPrimary: true }
    const made = await workspace(world, body)
    for (const [key, value] of Object.entries(body)) assert.equal(made[key], value, key)
  },
  'PATCH /api/projects/:projectId/workspaces/:workspaceId': async (world) => {
    const { id, projectId } = await workspace(world, { cwd: '/a' })
    const path = `/api/projects/${projectId}/workspaces/${id}`
    assert.equal((await world.make('PATCH', path, { cwd: '/b' })).cwd, '/b')
    assert.equal(await statusOf(world.request('PATCH', path, { cwd: null })), 422, 'something has to be left')
  },
  'DELETE /api/projects/:projectId/workspaces/:workspaceId': async (world) => {
    const { id, projectId } = await workspace(world, { cwd: '/a' })
    await world.make('DELETE', `/api/projects/${projectId}/workspaces/${id}`)
    assert.deepEqual(await good(world.request('GET', `/api/projects/${projectId}/workspaces`)), [])
  },
})

contract('Goal endpoints', {
  'GET /api/companies/:companyId/goals': async ({ thing, engineer, of }) => {
    const top = await thing('goals', { title: 'Top' })
    const beside = await thing('goals', { title: 'Beside' })
    const below = await thing('goals', { title: 'Below', parentId: top.id })
    assert.deepEqual(ids(await good(engineer.request('GET', of('/goals')))), ids([top, below, beside]))
  },
  'GET /api/goals/:goalId': async ({ thing, engineer, stranger }) => {
    const goal = await thing('goals', { title: 'Top' })
    assert.deepEqual(await good(engineer.request('GET', `/api/goals/${goal.id}`)), goal)
    assert.equal(await statusOf(stranger.request('GET', `/api/goals/${goal.id}`)), 404)
  },
  'POST /api/companies/:companyId/goals': async ({ thing }) => {
    const body = { title: 'Top', description: 'All.', level: 'company', status: 'active' }
    const goal = await thing('goals', body)
    for (const [key, value] of Object.entries(body)) assert.equal(goal[key], value, key)
  },
  'PATCH /api/goals/:goalId': async ({ thing, make }) => {
    const { id } = await thing('goals', { title: 'Top' })
    assert.equal((await make('PATCH', `/api/goals/${id}`, { title: 'Tip' })).title, 'Tip')
  },
})
