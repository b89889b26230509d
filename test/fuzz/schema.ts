import fc from 'fast-check'
import type { GenericSchema } from 'valibot'
import { PASSWORD } from '../access/auth/people.ts'

/** A placeholder in a generated value for an id of an earlier response. */
export class Reference {
  /** The parameter that takes such an id, such as `issueId`. */
  readonly name: string
  /** Selects one of the known ids, from 0 to 1. */
  readonly at: number

  constructor(name: string, at: number) {
    this.name = name
    this.at = at
  }
}

export const reference = (name: string): fc.Arbitrary<unknown> =>
  fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }).map((at) => new Reference(name, at))

/** The properties of valibot schemas that this file uses. */
interface Shape extends GenericSchema {
  entries?: Record<string, Shape>
  wrapped?: Shape
  item?: Shape
  options?: readonly unknown[]
  literal?: unknown
  getter?: (input: unknown) => Shape
  pipe?: readonly { type: string; requirement?: unknown }[]
}

/** Generates values that a schema mostly accepts. Validate them, because checks in code are unknown here. */
export function valuesOf(schema: GenericSchema, key = ''): fc.Arbitrary<unknown> {
  const shape = schema as Shape
  const hint = HINTS[key]
  switch (shape.type) {
    case 'strict_object':
    case 'object':
      return objectsOf(shape.entries ?? {})
    case 'optional':
    case 'nullish':
    case 'exact_optional':
      // Omit half of the values in addition to omitted keys, because bodies with fewer fields are accepted more often.
      return fc.option(valuesOf(shape.wrapped!, key), { nil: undefined, freq: 2 })
    case 'nullable':
      return fc.oneof(
        { weight: 6, arbitrary: valuesOf(shape.wrapped!, key) },
        { weight: 1, arbitrary: fc.constant(null) },
      )
    case 'array':
      return fc.array(valuesOf(shape.item!, key), { minLength: limit(shape, 'min_length') ?? 0, maxLength: 4 })
    case 'record':
      return hint ?? records
    case 'picklist':
      return fc.constantFrom(...(shape.options ?? []))
    case 'literal':
      return fc.constant(shape.literal)
    case 'union':
    case 'variant':
      return fc.oneof(...(shape.options as Shape[]).map((option) => valuesOf(option, key)))
    case 'lazy':
      return valuesOf(shape.getter!(undefined), key)
    case 'boolean':
      return fc.boolean()
    case 'number':
      return numbersOf(shape)
    case 'string':
      return hint ?? stringsOf(shape, key)
    default:
      return json
  }
}

function objectsOf(entries: Record<string, Shape>): fc.Arbitrary<unknown> {
  // Omit fields that exist only to be refused with a special message.
  const known = Object.entries(entries).filter(([, entry]) => (entry.wrapped ?? entry).type !== 'never')
  const required = known.filter(([, entry]) => !/optional|nullish/.test(entry.type)).map(([key]) => key)
  return fc.record(Object.fromEntries(known.map(([key, entry]) => [key, valuesOf(entry, key)])), {
    requiredKeys: required,
  }) as fc.Arbitrary<unknown>
}

/** Returns the number of an action of a schema, such as its `max_length`. */
function limit(shape: Shape, type: string): number | undefined {
  const action = shape.pipe?.find((action) => action.type === type)
  return action?.requirement as number | undefined
}

function numbersOf(shape: Shape): fc.Arbitrary<unknown> {
  const [min, max] = [limit(shape, 'min_value') ?? -1_000_000, limit(shape, 'max_value') ?? 1_000_000]
  const isInteger = shape.pipe?.some((action) => action.type === 'integer')
  const usual = isInteger ? fc.integer({ min, max: Math.min(max, 2 ** 31 - 1) }) : fc.double({ min, max, noNaN: true })
  return fc.oneof(usual, fc.constantFrom(min, max))
}

/** The kind of id in a field, by the name of the field. */
const OWNERS: readonly (readonly [RegExp, string])[] = [
  [/agent|reportsTo/i, 'agentId'],
  [/issue|parent/i, 'issueId'],
  [/goal/i, 'goalId'],
  [/project/i, 'projectId'],
  [/label/i, 'labelId'],
  [/approval/i, 'approvalId'],
  [/run/i, 'runId'],
  [/asset/i, 'assetId'],
  [/company/i, 'companyId'],
  [/comment/i, 'commentId'],
  [/skill/i, 'skillId'],
]

/** The generators of strings, by what limits them: fast-check takes some milliseconds to create each. */
const STRINGS = new Map<string, fc.Arbitrary<unknown>>()

function stringsOf(shape: Shape, key: string): fc.Arbitrary<unknown> {
  const owner = /Ids?$|^reportsTo$|Skills$/.test(key) ? OWNERS.find(([name]) => name.test(key))?.[1] : undefined
  if (owner) return fc.oneof({ weight: 6, arbitrary: reference(owner) }, { weight: 1, arbitrary: fc.uuid() })
  const pattern = shape.pipe?.find((action) => action.type === 'regex')?.requirement as RegExp | undefined
  if (shape.pipe?.some((action) => action.type === 'iso_timestamp')) return timestamps
  const [min, max] = [limit(shape, 'min_length') ?? 0, limit(shape, 'max_length') ?? 500]
  const limits = `${min} ${max} ${pattern}`
  const strings = STRINGS.get(limits) ?? textsOf(min, max, pattern)
  STRINGS.set(limits, strings)
  return strings
}

function textsOf(min: number, max: number, pattern?: RegExp): fc.Arbitrary<unknown> {
  const usual = fc.string({ minLength: min, maxLength: Math.min(max, 60), unit: 'grapheme' })
  const edges = fc.constantFrom(min, max).map((length) => 'x'.repeat(length))
  const texts = fc.oneof(
    { weight: 4, arbitrary: words },
    { weight: 2, arbitrary: usual },
    { weight: 1, arbitrary: edges },
  )
  if (!pattern) return texts
  try {
    return fc.oneof({ weight: 3, arbitrary: fc.stringMatching(pattern, { maxLength: 80 }) }, texts)
  } catch {
    return texts // fast-check does not support a part of the pattern
  }
}

/** For names, titles and similar fields: one line without surrounding spaces. */
const words = fc.stringMatching(/^[A-Za-z]{1,12}( [a-z]{1,12}){0,2}$/)

const json = fc.jsonValue({ maxDepth: 2 })

const records = fc.dictionary(fc.stringMatching(/^[a-z]{1,9}$/), json, { maxKeys: 4 })

const timestamps = fc
  .date({ min: new Date('2026-01-01'), max: new Date('2027-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString())

/** The prefix of every planted secret, and of no other data. */
export const PLANTED = 'canary/'

/** Generates a secret to plant, with characters that encodings change: special and non-ASCII characters. */
const secrets = fc.uuid().map((id) => `${PLANTED}${id} "é"+&`)

/** Valid values for fields with checks in code, and secrets for secret fields. */
const HINTS: Record<string, fc.Arbitrary<unknown>> = {
  after: fc.constant(undefined),
  adapterType: fc.constantFrom('runtimeA_local', 'runtimeB_local', 'process', 'http'),
  adapterConfig: fc.record(
    { cwd: fc.constant('/srv'), model: fc.string(), promptTemplate: fc.string(), env: fc.record({ KEY: secrets }) },
    { requiredKeys: [] },
  ),
  baseRevisionId: fc.constant(undefined),
  claimSecret: fc.oneof(reference('claimSecret'), fc.string()),
  color: fc.stringMatching(/^#[0-9a-f]{6}$/),
  currentPassword: fc.constantFrom(PASSWORD, 'wrong, long enough'),
  cwd: fc.constantFrom('/srv', '/srv/a b', '/'),
  email: fc.constantFrom('olga@example.com', 'mia@example.com', 'nobody@example.com', 'wrong'),
  env: fc.record({ KEY: secrets, OTHER: fc.constant({ $secret: 'KEY' }) }, { requiredKeys: [] }),
  from: fc.constantFrom('2026-11-01', '2026-01-01'),
  to: fc.constantFrom('2026-11-30', '2027-01-01'),
  files: fc.constantFrom(
    { 'SKILL.md': '---\nname: tides\ndescription: Read a tide table.\n---\nRead it.\n' },
    {
      'COMPANY.md': '---\nname: Orca\nslug: orca\n---\nHi.\n',
      'agents/nia/AGENTS.md': '---\nname: Nia\n---\nCount.\n',
    },
    { 'a/SKILL.md': '---\nname: [\n---\n', '../x': 'x', 'a//b': '\u202e' },
    {},
  ),
  limit: fc.constantFrom('1', '2', '1000'),
  metadata: fc.record({ apiKey: secrets, note: fc.string() }, { requiredKeys: [] }),
  newPassword: fc.constantFrom(PASSWORD, 'short'),
  offset: fc.constantFrom('0', '7'),
  password: fc.oneof(fc.constant(PASSWORD), secrets),
  payload: fc.record({ plan: fc.string({ minLength: 1 }) }, { requiredKeys: [] }),
  q: fc.oneof(fc.string(), fc.constantFrom('a', '"', '*', 'NEAR(', 'x OR y', '-', '^a', 'title:')),
  repoRef: fc.constantFrom('main', 'release/2'),
  repoUrl: fc.constantFrom('https://git.example/a/b.git', 'git@git.example:a/b'),
  role: fc.constantFrom('engineer', 'ceo', 'cto', 'manager'),
  targetDate: fc.constantFrom('2026-11-30', '2027-02-28'),
  token: fc.oneof(reference('linkToken'), reference('token'), fc.string()),
  value: secrets,
}
