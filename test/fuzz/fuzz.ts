import type { TestContext } from 'node:test'
import fc from 'fast-check'
import { ENDPOINTS } from '../../src/http/app.ts'
import { insertRun } from '../arrange.ts'
import { requestOf } from '../contract/requests.ts'
import { LINES } from '../contract/who-may.ts'
import { createWorld } from '../contract/world.ts'
import type { Ask } from '../helpers.ts'
import { type Draft, draftsOf } from './request.ts'
import { harvest, type Known, learn, send, toRequest } from './send.ts'

/** How many requests meet the same world: later it is worn, with its agents terminated and its company archived. */
const REQUESTS_A_WORLD = 500

/** How often each status was answered, by endpoint id. */
export type Answers = Map<string, Map<number, number>>

/**
 * Sends requests made from the endpoints' own schemas, good and spoilt, and
 * fails at the first that is answered as it must not be. The same seed makes
 * the same requests, but for the ids that the server chooses.
 */
export async function fuzz(t: TestContext, { seed, requests }: { seed: number; requests: number }): Promise<Answers> {
  const answers: Answers = new Map()
  let world: World | undefined
  let sent = 0
  const check = async (draft: Draft) => {
    if (sent++ % REQUESTS_A_WORLD === 0) {
      world = await createFuzzedWorld(t)
    }
    const request = toRequest(draft, world!.known)
    const status = await send(world!.asks[draft.by], draft.endpoint, request, world!.known).catch((cause: Error) => {
      const { method, path, body } = request
      const said = `${method} ${path} by ${draft.by}, ${draft.spoilt?.kind ?? 'as it is'}: ${String(body).slice(0, 2_000)}`
      throw new Error(`Request ${sent} of seed ${seed}: ${said}\n${cause.message}`, { cause })
    })
    const ofEndpoint = answers.get(draft.endpoint.id) ?? new Map()
    answers.set(draft.endpoint.id, ofEndpoint.set(status, (ofEndpoint.get(status) ?? 0) + 1))
  }
  // What comes before a request made its world, so a failure cannot be made smaller by itself.
  const options = { seed, numRuns: requests, endOnFailure: true }
  const { errorInstance } = await fc.check(fc.asyncProperty(draftsOf(ENDPOINTS), check), options)
  if (errorInstance) throw errorInstance
  return answers
}

/** What is asked once in the beginning, so that there is some of everything. */
const MAKING = ENDPOINTS.filter(
  ({ method, path }) =>
    method === 'POST' &&
    LINES.get(`${method} ${path}`)?.answers.board === 'ok' &&
    !/\/(archive|freeze|stop|terminate)$/.test(path),
)

interface World {
  asks: Record<Draft['by'], Ask>
  known: Known
}

/** Two companies with agents, and some of everything in the first. */
async function createFuzzedWorld(t: TestContext): Promise<World> {
  const world = await createWorld(t)
  world.approveStrategy()
  const known: Known = { ids: new Map(), places: new Map() }
  const run = await insertRun(world, world.colleague)
  for (const { id } of [world.company, world.company, world.other]) learn(known, 'companyId', id)
  const { ceo, manager, engineer, colleague, stranger } = world
  for (const { id } of [ceo, manager, engineer, colleague, stranger]) learn(known, 'agentId', id)
  learn(known, 'runId', run.id)
  learn(known, 'page', 'errors')
  learn(known, 'adapterType', 'runtimeA_local')
  for (const endpoint of MAKING) {
    const { path, body } = await requestOf(world, endpoint.method, endpoint.path, 'board')
    harvest(known, endpoint, {}, await world.make(endpoint.method, path, body))
  }
  const { ask } = world
  return {
    asks: {
      board: ask,
      ceo: ceo.ask,
      manager: manager.ask,
      engineer: engineer.ask,
      stranger: stranger.ask,
      run: run.ask,
    },
    known,
  }
}
