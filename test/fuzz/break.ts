import fc from 'fast-check'

/** The body to send: a value to serialize as JSON, or a text that can be invalid JSON. */
export type Sent = { value: unknown } | { text: string }

/** One way to corrupt a body at the place `at`. */
export type Break = { kind: string; at: number; spoil: (body: unknown, at: number) => Sent }

/** Values for any field: of the wrong type, at a boundary, or not representable. */
const ODD_VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  0.5,
  -0,
  1e308,
  2 ** 53,
  -(2 ** 31),
  '',
  ' ',
  '\n',
  '0',
  'null',
  'me',
  '__proto__',
  '\0',
  'a\0b',
  '\ud800',
  '\u202e\u200d🦭é́',
  "'; drop table issue; --",
  '../../etc/passwd',
  '%00',
  '[redacted]',
  'x'.repeat(200),
  'x'.repeat(201),
  'é'.repeat(100_001),
  '@'.repeat(5_000),
  '`'.repeat(5_000),
  [],
  {},
  [null],
  [[[]]],
  Array.from({ length: 2_000 }, () => 'x'),
  { length: 1, 0: 'x' },
  { $secret: 'NAME' },
  { $ref: '#' },
]

const UNKNOWN_FIELDS = [
  'tittle',
  'id',
  'companyId2',
  'toString',
  'hasOwnProperty',
  '',
  ' ',
  'createdAt\u0301',
  '$where',
]

/** Texts that are not a valid request body for any route. */
const TEXTS = [
  '',
  '{',
  'null',
  '[]',
  '"x"',
  '7',
  'NaN',
  '{"a":1e999}',
  '\ufeff{}',
  '{} {}',
  `${'['.repeat(10_000)}${']'.repeat(10_000)}`,
  `{"a":${'{"a":'.repeat(100)}1${'}'.repeat(101)}`,
]

const POISON = ['__proto__', 'constructor', 'prototype']

const place = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })

/** Generates a way to corrupt a body. */
export const breaks: fc.Arbitrary<Break> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ at: place, odd: fc.constantFrom(...ODD_VALUES) }).map(({ at, odd }) => ({
      kind: 'odd value',
      at,
      spoil: (body: unknown, at: number) => ({ value: replaceAt(body, at, () => odd) }),
    })),
  },
  {
    weight: 2,
    arbitrary: place.map((at) => ({
      kind: 'left out',
      at,
      spoil: (body: unknown, at: number) => ({ value: removeAt(body, at) }),
    })),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(...UNKNOWN_FIELDS).map((name) => ({
      kind: 'unknown field',
      at: 0,
      spoil: (body: unknown) => ({ value: { ...(body as object), [name]: 'x' } }),
    })),
  },
  {
    weight: 1,
    arbitrary: fc.record({ at: place, key: fc.constantFrom(...POISON) }).map(({ at, key }) => ({
      kind: 'prototype key',
      at,
      spoil: (body: unknown, at: number) => {
        const poisoned = replaceAt(body, at, () => '!poison!')
        return { text: JSON.stringify(poisoned).replace('"!poison!"', `{"${key}":{"isBoard":true}}`) }
      },
    })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...POISON).map((key) => ({
      kind: 'prototype key of the body',
      at: 0,
      spoil: (body: unknown) => ({
        text: JSON.stringify(body).replace(/^\{/, `{"${key}":{"title":"x"},`).replace(',}', '}'),
      }),
    })),
  },
  {
    weight: 1,
    arbitrary: place.map((at) => ({
      kind: 'duplicate key',
      at,
      spoil: (body: unknown, at: number) => {
        const [key = 'title'] = pick(Object.keys(body as object), at)
        return { text: JSON.stringify(body).replace(/^\{(?!\})/, `{${JSON.stringify(key)}:null,`) }
      },
    })),
  },
  { weight: 1, arbitrary: fc.constantFrom(...TEXTS).map((text) => ({ kind: 'text', at: 0, spoil: () => ({ text }) })) },
)

const pick = <T>(list: readonly T[], at: number): T[] => (list.length ? [list[Math.floor(at * list.length)]!] : [])

/** Returns the paths of all nested values, outermost first. */
function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => [[...path, key], ...pathsOf(inner, [...path, key])])
}

function replaceAt(body: unknown, at: number, make: (before: unknown) => unknown): unknown {
  const copy = structuredClone(body)
  const [path] = pick(pathsOf(copy), at)
  if (!path) return { ...(copy as object), title: make(undefined) }
  const owner = path.slice(0, -1).reduce((inner, key) => (inner as Record<string, unknown>)[key], copy)
  const key = path.at(-1)!
  ;(owner as Record<string, unknown>)[key] = make((owner as Record<string, unknown>)[key])
  return copy
}

function removeAt(body: unknown, at: number): unknown {
  const copy = structuredClone(body) as Record<string, unknown>
  for (const key of pick(Object.keys(copy), at)) delete copy[key]
  return copy
}
