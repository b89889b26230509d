import type { TestContext } from 'node:test'
import fc from 'fast-check'
import { ALL_ENDPOINTS } from '../../src/clients/routes.ts'
import type { Config } from '../../src/platform/config.ts'
import { type Draft, draftsOf } from './request.ts'
import { send, toRequest } from './send.ts'
import { createFuzzedWorld, type FuzzedWorld } from './world.ts'

/** The number of requests per world. After more, its agents are terminated and its company is archived. */
const REQUESTS_A_WORLD = 500

/** The number of responses per status, by endpoint id. */
export type Answers = Map<string, Map<number, number>>

export interface Fuzzing {
  seed: number
  requests: number
  mode: Config['mode']
}

/**
 * Sends valid and corrupted requests, generated from the schemas of the endpoints, and
 * fails at the first invalid response: a 5xx, a body that
 * its schema does not declare, or a secret. When the test ends, the
 * databases, logs and exports are also searched for the secrets. The same seed
 * generates the same requests, except for the ids that the server creates.
 */
export async function fuzz(t: TestContext, { seed, requests, mode }: Fuzzing): Promise<Answers> {
  const responses: Answers = new Map()
  let world: FuzzedWorld | undefined
  let sent = 0
  const check = async (draft: Draft) => {
    if (sent++ % REQUESTS_A_WORLD === 0) {
      world = await createFuzzedWorld(t, mode)
    }
    const request = toRequest(draft, world!.known)
    const status = await send(world!.asks[draft.by]!, draft.endpoint, request, world!.known).catch((cause: Error) => {
      const { method, path, body } = request
      const printed = `${method} ${path} by ${draft.by}, ${draft.spoilt?.kind ?? 'as it is'}: ${String(body).slice(0, 2_000)}`
      throw new Error(`Request ${sent} of seed ${seed}: ${printed}\n${cause.message}`, { cause })
    })
    const ofEndpoint = responses.get(draft.endpoint.id) ?? new Map()
    responses.set(draft.endpoint.id, ofEndpoint.set(status, (ofEndpoint.get(status) ?? 0) + 1))
  }
  // Earlier requests change the world, so a failing request cannot be shrunk alone.
  const options = { seed, numRuns: requests, endOnFailure: true }
  const { errorInstance } = await fc.check(fc.asyncProperty(draftsOf(ALL_ENDPOINTS, mode), check), options)
  if (errorInstance) throw errorInstance
  return responses
}
