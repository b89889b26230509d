import fc from 'fast-check'
import type { GenericSchema } from 'valibot'
import type { Endpoint } from '../../src/http/route.ts'
import type { Config } from '../../src/platform/config.ts'
import { type Break, breaks } from './break.ts'
import { reference, valuesOf } from './schema.ts'

/** The callers in each mode of the server. For most endpoints only the first one has permission. */
export const CALLERS = {
  local_trusted: ['board', 'ceo', 'manager', 'engineer', 'stranger', 'run'],
  authenticated: [
    ...['owner', 'admin', 'member', 'viewer', 'outsider', 'nobody'],
    ...['ceo', 'manager', 'engineer', 'stranger', 'run'],
  ],
} as const satisfies Record<Config['mode'], readonly string[]>

export type CallerName = (typeof CALLERS)[Config['mode']][number]

/** A request with references to ids of earlier responses. */
export interface Draft {
  endpoint: Endpoint
  by: CallerName
  params: Record<string, unknown>
  query: Record<string, unknown>
  body: unknown
  spoilt: Break | undefined
  idempotencyKey: string | undefined
}

/** Requests that end a company or an agent are rare, because later requests to it are only refused. */
const WEIGHTS: Record<string, number> = {
  'agents.terminate': 2,
  'companies.archive': 1,
  'companies.stop': 1,
  'instance.freeze': 1,
}

/** Generates requests to all endpoints: most are valid, and many of the others are almost valid. */
export const draftsOf = (endpoints: readonly Endpoint[], mode: Config['mode']): fc.Arbitrary<Draft> =>
  fc.oneof(...endpoints.map((endpoint) => ({ weight: WEIGHTS[endpoint.id] ?? 10, arbitrary: draftOf(endpoint, mode) })))

function draftOf(endpoint: Endpoint, mode: Config['mode']): fc.Arbitrary<Draft> {
  const names = [...endpoint.path.matchAll(/:(\w+)/g)].map(([, name]) => name!)
  return fc.record({
    endpoint: fc.constant(endpoint),
    by: fc.oneof(fc.constant(CALLERS[mode][0]), fc.constantFrom(...CALLERS[mode])),
    params: fc.record(Object.fromEntries(names.map((name) => [name, paramOf(name)]))),
    query: endpoint.query ? queryOf(endpoint.query) : fc.constant({}),
    body: endpoint.body ? valuesOf(endpoint.body) : fc.constant({}),
    spoilt:
      endpoint.method === 'GET'
        ? fc.constant(undefined)
        : fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: breaks }),
    idempotencyKey: fc.oneof(
      { weight: 9, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.constantFrom('a', 'b', 'é'.repeat(3), 'x'.repeat(256)) },
    ),
  }) as fc.Arbitrary<Draft>
}

/** Generates a path parameter: mostly an id of the right kind, otherwise an id of another kind or an invalid id. */
const paramOf = (name: string): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 12, arbitrary: reference(name) },
    { weight: 1, arbitrary: fc.constantFrom('agentId', 'issueId', 'companyId', 'commentId').chain(reference) },
    { weight: 1, arbitrary: invalidIds },
  )

const ODD = [
  'me',
  'null',
  'undefined',
  '__proto__',
  '0',
  '-1',
  ' ',
  'é',
  '🦭',
  '\0',
  'a'.repeat(2_000),
  "'",
  '%',
  '..;',
]

/** Like `fc.string({ unit: 'binary' })`, which takes a second to create. */
const anyTexts = fc
  .array(fc.integer({ min: 0, max: 0x10ffff }), { minLength: 1 })
  .map((codePoints) => String.fromCodePoint(...codePoints))

const invalidIds = fc.oneof(fc.uuid(), anyTexts, fc.constantFrom(...ODD))

const queryOf = (schema: GenericSchema): fc.Arbitrary<unknown> =>
  fc
    .tuple(
      valuesOf(schema),
      fc.dictionary(
        fc.constantFrom('after', 'limit', 'status', 'count', 'q', 'order', 'unknown'),
        fc.constantFrom(...QUERY),
        {
          maxKeys: 1,
          size: 'xsmall',
        },
      ),
    )
    .map(([good, odd]) => ({ ...(good as object), ...odd }))

const QUERY = [
  '',
  '0',
  '-1',
  '1e3',
  '1001',
  'x',
  'W10',
  'WzFd',
  'WyJ4Il0',
  'todo,',
  ',',
  '\0',
  '"',
  '*',
  '🦭',
  '%',
  "'",
  'x'.repeat(600),
]
