import type { TestContext } from 'node:test'
import { ALL_ENDPOINTS } from '../../src/clients/routes.ts'
import type { Config } from '../../src/platform/config.ts'
import { createFoundedApp } from '../access/auth/founder.ts'
import { cookieOf, PASSWORD, type PeopleApp, type Person } from '../access/auth/people.ts'
import { insertRun } from '../arrange.ts'
import { requestOf } from '../contract/requests.ts'
import { LINES } from '../contract/who-may.ts'
import { createWorld, good } from '../contract/world.ts'
import type { SendRequest } from '../helpers.ts'
import type { CallerName } from './request.ts'
import { PLANTED } from './schema.ts'
import { type Known, learn, learnIds } from './send.ts'

export interface FuzzedWorld {
  callers: Partial<Record<CallerName, SendRequest>>
  known: Known
}

/** The requests that return approvals. */
const APPROVALS = /^the answer of GET \/api\/(approvals|companies\/[^/]+\/approvals|issues\/[^/]+\/approvals)/

/** The requests that create objects of every kind at the beginning. */
const MAKING = ALL_ENDPOINTS.filter(
  ({ method, path }) =>
    method === 'POST' &&
    LINES.get(`${method} ${path}`)?.answers.board === 'ok' &&
    !/\/(archive|freeze|stop|terminate)$/.test(path),
)

/** The objects that only people can create. */
const MADE_BY_PEOPLE = ALL_ENDPOINTS.filter(({ id }) => id === 'invitations.create' || id === 'tokens.create')

/** Creates two companies with agents, with people in authenticated mode, and with objects of every kind in the first company. */
export async function createFuzzedWorld(t: TestContext, mode: Config['mode']): Promise<FuzzedWorld> {
  const { world, callers } = mode === 'local_trusted' ? await createLocalWorld(t) : await createPeopledWorld(t)
  world.canaries.onlyMarked(PLANTED)
  for (const kind of ['env value', 'sealed value'] as const) {
    world.canaries.except(kind, APPROVALS, 'Whoever may decide sees every value that the runs of a hire will use.')
  }
  world.approveStrategy()
  const known: Known = { ids: new Map(), places: new Map() }
  const run = await insertRun(world, world.colleague)
  for (const { id } of [world.company, world.company, world.other]) learn(known, 'companyId', id)
  const { ceo, manager, engineer, colleague, stranger } = world
  for (const { id } of [ceo, manager, engineer, colleague, stranger]) learn(known, 'agentId', id)
  learn(known, 'runId', run.id)
  learn(known, 'linkToken', world.canaries.notice('link token', world.ctx.signIn.setup?.token ?? ''))
  learn(known, 'page', 'errors')
  learn(known, 'adapterType', 'runtimeA_local')
  for (const endpoint of mode === 'local_trusted' ? MAKING : [...MAKING, ...MADE_BY_PEOPLE]) {
    const { path, body } = await requestOf(world, endpoint.method, endpoint.path, 'board')
    learnIds(known, endpoint, {}, await good(world.request(endpoint.method, path, body)))
  }
  return {
    callers: {
      ...callers,
      ceo: ceo.request,
      manager: manager.request,
      engineer: engineer.request,
      stranger: stranger.request,
      run: run.request,
    },
    known,
  }
}

async function createLocalWorld(t: TestContext) {
  const world = await createWorld(t)
  return { world, callers: { board: world.request } }
}

async function createPeopledWorld(t: TestContext) {
  const { app, founder, board } = await createFoundedApp(t)
  const world = await createWorld(t, {}, board)
  const person = async (name: string, role: 'admin' | 'member' | 'viewer') =>
    signedIn(app, await app.person(name, { [world.company.id]: role }))
  const callers = {
    owner: signedIn(app, founder),
    admin: await person('Adam', 'admin'),
    member: await person('Mia', 'member'),
    viewer: await person('Vera', 'viewer'),
    outsider: signedIn(app, await app.person('Stan', { [world.other.id]: 'owner' })),
    nobody: app.request,
  }
  return { world, callers }
}

/** Sends requests as a person, and signs in again if a request has ended the session. */
function signedIn(app: PeopleApp, { email, request: first }: Person): SendRequest {
  let send = first
  return async (...request) => {
    const response = await send(...request)
    if (response.status === 401) {
      const cookie = await app.ctx.signIn.identity!.signIn(email, PASSWORD, undefined)
      if (cookie) send = app.with(cookieOf(cookie))
    }
    return response
  }
}
