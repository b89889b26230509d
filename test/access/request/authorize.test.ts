import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { v7 as uuid } from 'uuid'
import { insertMembership } from '../../../src/access/board/membership-queries.ts'
import { insertUser } from '../../../src/access/board/user-queries.ts'
import { ROLES, type Role, requiredRole } from '../../../src/access/caller/role.ts'
import type { Who } from '../../../src/access/caller/who.ts'
import { agent, anyone, ceo } from '../../../src/access/caller/who.ts'
import { ALL_ENDPOINTS, DOCUMENTED_ENDPOINTS } from '../../../src/clients/routes.ts'
import { createRateCounter } from '../../../src/http/rate-limit.ts'
import type { Endpoint } from '../../../src/http/route.ts'
import { manager } from '../../../src/organization/agent/who.ts'
import { sql } from '../../../src/platform/database/sql.ts'
import { insertCompany } from '../../arrange.ts'
import { methodFor, type Request, requestOf } from '../../contract/requests.ts'
import { createWorld, type World } from '../../contract/world.ts'
import type { SendRequest } from '../../helpers.ts'
import { createPeopleApp, type Person } from '../auth/people.ts'

/**
 * The minimum role of each endpoint in authenticated mode. An endpoint that
 * is not listed requires `viewer` for a GET, and `admin` otherwise.
 */
const MAY: Record<Role, string> = {
  viewer:
    'companies.create inbox.archiveIssue inbox.dismiss inbox.unarchiveIssue inbox.update issues.read issues.unread members.remove',
  member: `
    agents.invoke agents.resetSessions agents.wakeup approvals.comment attachments.delete comments.create documents.delete documents.restore documents.write
    heartbeatRuns.cancel runs.cancel
    goals.create goals.update goals.delete labels.create labels.update labels.delete
    interactions.accept interactions.answer interactions.cancel interactions.create interactions.reject interactions.respond
    issues.attach issues.checkout issues.close issues.create issues.createChild issues.linkApproval issues.release
    issues.unlinkApproval issues.update projects.create projects.update projects.delete`,
  admin:
    'agents.listKeys invitations.list invites.list invites.listAlias webhooks.deliveries webhooks.get webhooks.list',
  owner: 'companies.delete members.update',
}

function expectedRole({ id, method }: Endpoint): Role {
  const named = ROLES.find((role) => MAY[role].split(/\s+/).includes(id))
  return named ?? (method === 'GET' ? 'viewer' : 'admin')
}

const KINDS = ['viewer', 'member', 'admin', 'owner', 'founder', 'stranger'] as const
/** A kind of person. The founder set up the server and is also an owner. The stranger owns another company. */
type Kind = (typeof KINDS)[number]

/** The kinds of people that may call an endpoint that concerns no company, or the caller itself. */
const WITHOUT_COMPANY: Record<string, readonly Kind[]> = {
  ...Object.fromEntries(
    `adapters.list companies.list companies.stats guides.adapter guides.agentConfiguration guides.agentIcons
    guides.adapterAlias guides.agentConfigurationAlias guides.agentIconsAlias inbox.list instance.get session.get session.list
    templates.list placements.get placements.list tokens.create tokens.list tokens.revoke whoami.get whoami.getAlias`
      .split(/\s+/)
      .map((id) => [id, KINDS]),
  ),
  'agents.me': [],
  // A company's creator decides what runs on the machine, so this needs that permission in some company.
  'companies.create': ['admin', 'owner', 'founder', 'stranger'],
  'instance.check': ['founder'],
  'instance.freeze': ['founder'],
  'instance.metrics': ['founder'],
  'instance.prepareDemoAgent': ['founder'],
  'instance.programs': ['founder'],
  'instance.thaw': ['founder'],
  // Every viewer may leave a company. Here the caller removes another member.
  'members.remove': ['owner', 'founder'],
  'placements.create': ['founder'],
  'placements.delete': ['founder'],
  'placements.test': ['founder'],
  'placements.update': ['founder'],
  'packages.apply': ['admin', 'owner', 'founder', 'stranger'],
  'packages.preview': ['admin', 'owner', 'founder', 'stranger'],
}

/** The endpoints that this test does not call, and the reason. */
const NOT_WALKED: Record<string, string> = {
  'session.changePassword': 'ends the session that asks; sessions.test.ts does it',
  'session.end': 'ends a session of its own; scopes.test.ts does it',
  'session.signOutEverywhere': 'ends the session that asks; sessions.test.ts does it',
}

const isForAgentsOnly = ({ who }: Endpoint) => who.every((one) => [agent, ceo, manager].includes(one as Who))
const CLOSED = ALL_ENDPOINTS.filter(({ who }) => !who.includes(anyone))
const WALKED = CLOSED.filter(({ id }) => !(id in NOT_WALKED))

/** Returns `ok`, or the status of the refusal. */
function expectedOf(endpoint: Endpoint, kind: Kind): 'ok' | 403 | 404 {
  const isOfStranger = kind === 'stranger' && /:(?!token)\w+Id/.test(endpoint.path)
  if (isOfStranger && !endpoint.path.includes(':companyId')) return isForAgentsOnly(endpoint) ? 403 : 404
  if (isOfStranger || isForAgentsOnly(endpoint)) return 403
  const named = WITHOUT_COMPANY[endpoint.id]
  if (named) return named.includes(kind) ? 'ok' : 403
  const role = kind === 'founder' ? 'owner' : (kind as Role)
  return ROLES.indexOf(role) >= ROLES.indexOf(expectedRole(endpoint)) ? 'ok' : 403
}

interface Place {
  world: World
  people: Record<Kind, Pick<Person, 'id' | 'request'>>
  invalidCallers: Record<string, SendRequest>
}

/** Creates a company with agents, people of every kind, and credentials that are no longer valid. */
async function arrange(t: TestContext): Promise<Place> {
  const app = createPeopleApp(t)
  const founder = await app.person('Olga', {}, true)
  const make: World['make'] = async (method, path, body) => {
    const response = await founder.request(method, path, body)
    assert.ok(response.status < 300, `${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`)
    return response.body
  }
  const world = await createWorld(t, {}, { ...app, request: founder.request, make })
  world.approveStrategy()
  const here = (role: Role) => ({ [world.company.id as string]: role })
  const people = {
    viewer: await app.person('Vera', here('viewer')),
    member: await app.person('Mia', here('member')),
    admin: await app.person('Adam', here('admin')),
    owner: await app.person('Owen', here('owner')),
    founder,
    stranger: await app.person('Stan', { [insertCompany(app.ctx, 'Other')]: 'owner' }),
  }
  const expired = await app.person('Ex', here('owner'))
  const past = '2020-01-01T00:00:00.000Z'
  app.ctx.db.run(sql.updateTable('auth_session').set({ expires_at: past }).where('user_id', '=', expired.id))
  const gone = await app.person('Gus', here('owner'))
  await gone.request('POST', '/api/auth/sign-out')
  const { id, token } = await make('POST', '/api/board/tokens')
  await make('DELETE', `/api/board/tokens/${id}`)
  const invalidCallers = {
    nobody: app.request,
    'expired session': expired.request,
    'signed out': gone.request,
    revoked: app.as(token),
  }
  return { world, people, invalidCallers }
}

/** Requests that need user accounts, or that archive or delete the company. */
const REQUESTS: Record<string, (place: Place, send: SendRequest) => Promise<Request>> = {
  'companies.archive': async (place) => ({ params: { companyId: await anotherCompany(place) } }),
  'companies.delete': async (place) => ({
    params: { companyId: await anotherCompany(place) },
    body: { confirm: 'Doomed' },
  }),
  'invitations.revoke': async ({ world }) => ({
    params: { invitationId: (await world.make('POST', world.of('/invitations'))).id },
  }),
  'members.remove': async (place) => ({ params: { userId: await newMember(place) } }),
  'members.update': async (place) => ({ params: { userId: await newMember(place) }, body: { role: 'viewer' } }),
  'tokens.revoke': async (_, send) => ({ params: { tokenId: (await send('POST', '/api/board/tokens')).body.id } }),
}

/** Creates another company in which everybody has the same role as in the first one. */
async function anotherCompany({ world, people }: Place): Promise<string> {
  const company_id = insertCompany(world.ctx, 'Doomed')
  const roles = { viewer: 'viewer', member: 'member', admin: 'admin', owner: 'owner', founder: 'owner' } as const
  for (const [kind, role] of Object.entries(roles)) {
    const user_id = people[kind as Kind].id
    insertMembership(world.ctx.db, { company_id, user_id, role, created_at: world.ctx.now })
  }
  return company_id
}

async function newMember({ world }: Place): Promise<string> {
  const { db, now } = world.ctx
  const user = { name: 'Nel', email: `${uuid()}@example.com`, passwordHash: '', mayCreateCompanies: false }
  const user_id = insertUser(db, user, now)
  insertMembership(db, { company_id: world.company.id, user_id, role: 'member', created_at: now })
  return user_id
}

/** Builds a valid request, which only an authorization error can refuse. */
async function validRequest(place: Place, endpoint: Endpoint, send: SendRequest): Promise<Parameters<SendRequest>> {
  const { method, path, id } = endpoint
  const own = await REQUESTS[id]?.(place, send)
  const request = await requestOf(place.world, method, path, 'board', own)
  return [methodFor(method, path), request.path, request.body]
}

test('the table of roles matches the code, and the tables list only existing endpoints', () => {
  const differing = CLOSED.filter(
    (endpoint) => requiredRole(endpoint as { method: string; role?: Role }) !== expectedRole(endpoint),
  )
  assert.deepEqual(
    differing.map(({ id }) => id),
    [],
  )
  const named = Object.values(MAY).flatMap((ids) => ids.split(/\s+/).filter(Boolean))
  const known = ALL_ENDPOINTS.map(({ id }) => id)
  const all = [...named, ...Object.keys({ ...WITHOUT_COMPANY, ...NOT_WALKED, ...REQUESTS })]
  assert.deepEqual(
    all.filter((id) => !known.includes(id)),
    [],
  )
  const about = WALKED.filter((one) => !/:\w+Id/.test(one.path) && !isForAgentsOnly(one)).map(({ id }) => id)
  assert.deepEqual(
    about.filter((id) => !(id in WITHOUT_COMPANY)),
    [],
    'what is about no company is in the table of that',
  )
})

test('each endpoint authorizes exactly the people in the table, and refuses every ended credential', async (t) => {
  const place = await arrange(t)
  const { world, people, invalidCallers } = place
  const surprises: string[] = []
  for (const endpoint of CLOSED) {
    world.ctx.signIn.rates = createRateCounter()
    const refused = await validRequest(place, endpoint, people.founder.request)
    const look = async (name: string, send: SendRequest, request: Parameters<SendRequest>, expected: 'ok' | number) => {
      const { status, body } = await send(...request)
      const got = status < 300 ? 'ok' : status
      if (got !== expected)
        surprises.push(`${name} ${endpoint.id}: ${status} not ${expected} ${JSON.stringify(body)?.slice(0, 200)}`)
    }
    for (const [name, send] of Object.entries(invalidCallers)) await look(name, send, refused, 401)
    if (endpoint.id in NOT_WALKED) continue
    const before = countActivity(world)
    for (const kind of KINDS) {
      const { request: send } = people[kind]
      if (expectedOf(endpoint, kind) !== 'ok') await look(kind, send, refused, expectedOf(endpoint, kind))
    }
    if (countActivity(world) !== before) surprises.push(`${endpoint.id}: a refusal has left its mark`)
    for (const kind of KINDS) {
      const { request: send } = people[kind]
      if (expectedOf(endpoint, kind) !== 'ok') continue
      // Everybody can read the same object.
      const request = endpoint.method === 'GET' ? refused : await validRequest(place, endpoint, send)
      await look(kind, send, request, 'ok')
      if (endpoint.id === 'instance.freeze') await world.make('POST', '/api/instance/thaw')
      if (endpoint.id === 'companies.stop') await world.make('POST', world.of('/thaw'))
    }
  }
  assert.deepEqual(surprises, [])
})

const countActivity = ({ ctx }: World) =>
  ctx.db.first(sql.selectFrom('activity').select((eb) => eb.fn.countAll<number>().as('count')))!.count

test('only rate-limited endpoints document 429', async (t) => {
  const place = await arrange(t)
  const { rates } = place.world.ctx.signIn
  const limited: string[] = []
  const endsItsSession = (id: string) => ['session.signOut', 'session.signOutEverywhere'].indexOf(id)
  for (const endpoint of DOCUMENTED_ENDPOINTS.toSorted((a, b) => endsItsSession(a.id) - endsItsSession(b.id))) {
    const { request: send } = place.people[endpoint.id === 'session.signOutEverywhere' ? 'owner' : 'founder']
    const request = await validRequest(place, endpoint, send)
    Object.assign(place.world.ctx.signIn, { rates: { take: () => 1_000 } })
    const { status, headers } = await send(...request)
    Object.assign(place.world.ctx.signIn, { rates })
    if (status === 429) limited.push(endpoint.id)
    if (status === 429) assert.equal(headers.get('retry-after'), '1')
  }
  assert.deepEqual(
    limited.sort(),
    DOCUMENTED_ENDPOINTS.filter(({ limits }) => limits)
      .map(({ id }) => id)
      .sort(),
  )
})
