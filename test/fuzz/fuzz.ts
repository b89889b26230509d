import type { TestContext } from 'node:test'
import fc from 'fast-check'
import { ALL_ENDPOINTS } from '../../src/clients/routes.ts'
import type { Config } from '../../src/platform/config.ts'
import { type Draft, draftsOf } from './request.ts'
import { send, toRequest } from './send.ts'
import { createFuzzedWorld, type FuzzedWorld } from './world.ts'

/** The number of requests per world. After more, its agents are terminated and its company is archived. */
const REQUESTS_A_WORLD = 600

/** The number of responses per status, by endpoint id. */
export type ResponseCounts = Map<string, Map<number, number>>

export interface Fuzzing {
  seed: number
  requests: number
  mode: Config['mode']
}

/**
 * Sends valid and corrupted requests, generated from the schemas of the endpoints, and
 * fails at the first invalid response: a 5xx, a body that
 * its schema does not declare, or a secret. At the end of each world, its
 * database, logs and exports are also searched for the secrets. The same seed
 * generates the same requests, except for the ids that the server creates.
 */
export async function fuzz(t: TestContext, { seed, requests, mode }: Fuzzing): Promise<ResponseCounts> {
  const counts: ResponseCounts = new Map()
  const drafts = draftsOf(ALL_ENDPOINTS, mode)
  for (let sent = 0; sent < requests; sent += REQUESTS_A_WORLD) {
    const inWorld = Math.min(REQUESTS_A_WORLD, requests - sent)
    let isComplete = false
    // A test of its own closes the server of the world at its end.
    await t.test(`${sent + 1} to ${sent + inWorld}`, async (t) => {
      const world = await createFuzzedWorld(t, mode)
      for (const [n, draft] of fc.sample(drafts, { seed: seed + sent, numRuns: inWorld }).entries()) {
        await sendDraft(world, draft, counts, `Request ${sent + n + 1} of seed ${seed}`)
      }
      isComplete = true
    })
    if (!isComplete) throw new Error(`The requests ${sent + 1} to ${sent + inWorld} of seed ${seed} failed.`)
  }
  return counts
}

async function sendDraft(world: FuzzedWorld, draft: Draft, counts: ResponseCounts, name: string): Promise<void> {
  const request = toRequest(draft, world.known)
  const status = await send(world.callers[draft.by]!, draft.endpoint, request, world.known).catch((cause: Error) => {
    const { method, path, body } = request
    const printed = `${method} ${path} by ${draft.by}, ${draft.spoilt?.kind ?? 'as it is'}: ${String(body).slice(0, 2_000)}`
    throw new Error(`${name}: ${printed}\n${cause.message}`, { cause })
  })
  const ofEndpoint = counts.get(draft.endpoint.id) ?? new Map()
  counts.set(draft.endpoint.id, ofEndpoint.set(status, (ofEndpoint.get(status) ?? 0) + 1))
}
