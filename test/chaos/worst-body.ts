import type { GenericSchema } from 'valibot'

/** The properties of valibot schemas that this file uses. */
interface Shape extends GenericSchema {
  entries?: Record<string, Shape>
  wrapped?: Shape
  item?: Shape
  key?: Shape
  value?: Shape
  options?: readonly unknown[]
  pipe?: readonly (Shape & { kind: string; requirement?: unknown })[]
}

type Path = readonly string[]

/** A place in a body, and the schema of its values. */
interface Place {
  path: Path
  schema: Shape
}

/** A body that takes a long time to validate, and the reason. */
export interface WorstBody {
  kind: string
  text: string
}

/** Texts that are slow in a regular expression or a check if they are repeated many times. */
const FILLERS = {
  letters: 'x',
  blanks: ' ',
  mails: 'a@a.',
  times: '2026-01-01T00:00:00.',
  emoji: '🦭',
  quotes: '"',
}

const fill = (filler: string, length: number) => filler.repeat(Math.ceil(length / filler.length)).slice(0, length)

/** Texts that are slow to search for mentions, code, links, keys, URLs or options. Fields of 100,000 characters accept them. */
const PATTERNS = [
  ...['@ä.', '@a ', '`a', '\n`', '> ', '- '],
  ...['sk-', 'eyJvy-u-', 'eyJaaaaaaaa.', 'svc_', 'key=', '--key ', 'a://b@', 'http://a ', 'a.', '"', '[redacted]'],
]

/** Values to repeat in arrays and records. */
const ITEMS: Record<string, (length: number) => unknown> = {
  nulls: () => null,
  objects: () => ({}),
  lists: () => [[]],
  texts: (length) => fill('x', length),
  times: (length) => fill('2026-01-01T00:00:00.', length),
  references: () => '01a201f2-ac0a-7686-b150-64378011f54a',
}

/**
 * Creates the slowest bodies for an endpoint. Each body is within the
 * limits (bytes, fields, elements) and has one invalid place.
 *
 * @param good a body that the endpoint accepts
 * @param limits of the endpoint: bytes, fields and elements
 */
export function* worstBodies(
  schema: GenericSchema,
  good: object,
  limits: { bytes: number; fields: number; elements: number },
): Generator<WorstBody> {
  const room = limits.bytes - JSON.stringify(good).length - 4_096
  const body = (kind: string, path: Path, value: unknown): WorstBody => ({
    kind: `${kind} at ${path.join('.') || 'the body'}`,
    text: JSON.stringify(withValue(good, path, value)),
  })
  for (const { path, schema: inner } of placesOf(schema as Shape)) {
    if (path.length > 0) {
      for (const [name, filler] of Object.entries(FILLERS)) {
        const size = Math.floor((room * filler.length) / (JSON.stringify(filler).length - 2 + byteOverhead(filler)))
        yield body(`2 MB of ${name}`, path, fill(filler, size))
      }
      for (const filler of PATTERNS) yield body(`99,000 characters of ${filler}`, path, fill(filler, 99_000))
    }
    for (const [name, item] of Object.entries(ITEMS)) {
      const many = limits.elements - 100
      const items = Array.from({ length: many }, () => item(Math.floor(room / many) - 4))
      yield body(`elements: ${name}`, path, items)
      const few = limits.fields - 50
      const values = Array.from({ length: few }, (_, i) => [`k${i}`, item(Math.floor(room / few) - 12)])
      yield body(`fields: ${name}`, path, { ...(valueAt(good, path) as object), ...Object.fromEntries(values) })
    }
    if (/object|record/.test(inner.type)) {
      yield body('deep', path, { deep: JSON.parse(`${'{"a":'.repeat(28)}1${'}'.repeat(28)}`) })
    }
  }
}

/** Returns the number of UTF-8 bytes of a text minus its UTF-16 units. */
const byteOverhead = (text: string) => Buffer.byteLength(text) - text.length

/** Finds the places of the body, the body itself first. The items of arrays and the values of records are one place each. */
function placesOf(schema: Shape, path: Path = []): Place[] {
  const own = { path, schema }
  const { type, entries, wrapped, item, value, options } = schema
  if (type === 'lazy' || path.length > 6) return [own]
  if (wrapped) return placesOf(wrapped, path)
  if (entries) return [own, ...Object.entries(entries).flatMap(([key, entry]) => placesOf(entry, [...path, key]))]
  if (item) return [own, ...placesOf(item, [...path, '0'])]
  if (value) return [own, ...placesOf(value, [...path, 'key'])]
  if (type === 'union' || type === 'variant') {
    const places = (options as Shape[]).flatMap((option) => placesOf(option, path))
    return [...new Map(places.map((place) => [place.path.join('.'), place])).values()]
  }
  return [own]
}

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], value)

/** Returns a copy with a value at a path, and creates missing parents. */
function withValue(body: unknown, [key, ...rest]: Path, value: unknown): unknown {
  if (key === undefined) return value
  const inner = (body as Record<string, unknown> | undefined)?.[key]
  const changed = withValue(inner, rest, value)
  if (key === '0') return [changed]
  return { ...(typeof body === 'object' && !Array.isArray(body) ? body : {}), [key]: changed }
}

/** Converts a JSON body to an HTML form. Values other than texts become their JSON. */
export const toForm = (json: string): string =>
  new URLSearchParams(
    Object.entries(JSON.parse(json)).map(([name, value]): [string, string] => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  ).toString()

/** Creates the slowest multipart forms within a size, in bytes. */
export function* worstUploads(
  boundary: string,
  size: number,
): Generator<{ kind: string; bytes: Uint8Array<ArrayBuffer> }> {
  const room = size - 4_096
  const part = (headers: string, content: string) => `--${boundary}\r\n${headers}\r\n\r\n${content}\r\n`
  const file = (name: string, content: string) =>
    part(`Content-Disposition: form-data; name="file"; filename="${name}"`, content)
  const field = (name: string) => part(`Content-Disposition: form-data; name="${name}"`, '')
  const form = (kind: string, parts: string) => ({
    kind,
    bytes: new Uint8Array(Buffer.from(`${parts}--${boundary}--\r\n`)),
  })
  const small = file('a.svg', '<svg/>')
  yield form('many fields', field('a').repeat(room / field('a').length) + small)
  yield form('many files', small.repeat(room / small.length))
  for (const filler of ['\\', '"', '%0', 'x', '/'])
    yield form(`a file name of ${filler}`, file(fill(filler, room), '<svg/>'))
  yield form('a field name', field(fill('x', room)) + small)
  yield form(
    'many headers',
    part(`Content-Disposition: form-data; name="file"; filename="a"${fill('\r\nX: y', room)}`, 'x'),
  )
  yield form('almost the boundary', file('a', fill(`\r\n--${boundary.slice(1)}`, room)))
  for (const filler of ['<!---->', '<?x?>', '<', ' ', '\r\n', '<!doctype svg ', '\u00e9'])
    yield form(`content of ${JSON.stringify(filler)}`, file('a', fill(filler, room / Buffer.byteLength(filler))))
  yield form('comments before the image', file('a.svg', `${fill('<!---->', room)}<svg/>`))
}
