import { isAlias, isScalar, parseDocument, stringify, visit } from 'yaml'

export type Yaml = Record<string, unknown>

/** The error for a text that cannot be parsed. The message is a clause. */
export class YamlFault extends Error {
  /** Whether the text was not parsed, because it is too large. */
  isTooLarge = false
}

export interface YamlLimits {
  /** In characters. Parsing recurses, so that its cost grows faster than the text. */
  length: number
  /** The maximum number of line ends and marks (`[`, `{`, `,`, `&`, `?`, `:`). Each may be a node, which costs as much as 50 characters. */
  marks: number
  /** The maximum number of aliases. A few aliases of aliases can expand to gigabytes. */
  aliases: number
  /** Whether a number that JavaScript would write differently (`1.0`, `007`) becomes a string, such as a version. */
  keepsWrittenNumbers: boolean
}

const DEFAULT_LIMITS: YamlLimits = { length: 512 * 1024, marks: 40_000, aliases: 50, keepsWrittenNumbers: true }

/**
 * Parses YAML with a mapping at the top level. An empty text is an empty mapping.
 * Tags outside of the YAML core schema are refused.
 *
 * @throws YamlFault
 */
export function readYaml(text: string, limits: YamlLimits = DEFAULT_LIMITS): Yaml {
  if (text.length > limits.length) throw tooLarge(`is longer than ${limits.length} characters`)
  if (countMarks(text, limits.marks) > limits.marks) throw tooLarge('has too many keys, items or lines')
  const value = parse(text, limits)
  if (value === null || value === undefined) return {}
  if (!isMapping(value)) throw new YamlFault('must be a mapping of keys to values')
  return value
}

const tooLarge = (message: string) => Object.assign(new YamlFault(message), { isTooLarge: true })

/** Counts what may become a node, before anything is parsed. Stops beyond `most`. */
function countMarks(text: string, most: number): number {
  const mark = /[\n[{,&?:]/g
  let count = 0
  while (count <= most && mark.test(text)) count++
  return count
}

const keyOf = (key: unknown) => (isScalar(key) ? key.value : key)

function parse(text: string, limits: YamlLimits): unknown {
  try {
    const document = parseDocument(text, { schema: 'core', prettyErrors: false, stringKeys: true, uniqueKeys: false })
    const fault = document.errors[0] ?? document.warnings[0]
    if (fault) throw new YamlFault(`is not plain YAML: ${fault.message.slice(0, 200)}`)
    let aliases = 0
    visit(document, {
      Map(_, { items }) {
        // The library compares each key with all others, which takes seconds for 10,000 of them.
        if (new Set(items.map(({ key }) => keyOf(key))).size < items.length) {
          throw new YamlFault('is not plain YAML: Map keys must be unique')
        }
      },
      Node(_, node) {
        if (isAlias(node) && ++aliases > limits.aliases)
          throw new YamlFault('is not plain YAML: it has too many aliases')
        if (!limits.keepsWrittenNumbers) return
        if (isScalar(node) && typeof node.value === 'number' && node.source && String(node.value) !== node.source) {
          node.value = node.source
        }
      },
    })
    return document.toJS({ maxAliasCount: limits.aliases })
  } catch (error) {
    if (error instanceof YamlFault) throw error
    // Any other error is caused by the text too, such as a stack overflow by deep nesting.
    throw new YamlFault(`is not plain YAML: ${(error as Error).message.slice(0, 200)}`)
  }
}

/** A markdown file, split. */
export interface Frontmatter {
  matter: Yaml
  body: string
  /** Whether the reader added quotes to values that are not YAML without quotes, for example because they contain `: `. */
  isRepaired: boolean
}

/**
 * Splits a markdown file into its YAML frontmatter and its body. A file
 * without frontmatter has an empty mapping. Line ends become `\n`. Blank lines
 * before the frontmatter are ignored.
 *
 * @throws YamlFault
 */
export function readFrontmatter(text: string, limits: YamlLimits = DEFAULT_LIMITS): Frontmatter {
  const plain = text
    .replace(/^\uFEFF/, '')
    .replaceAll(/\r\n?/g, '\n')
    .replace(/^(?:[ \t]*\n)+/, '')
  if (!/^---[ \t]*(?:\n|$)/.test(plain)) return { matter: {}, body: plain.trim(), isRepaired: false }
  const found = /^---[ \t]*\n(?:([\s\S]*?)\n)?---[ \t]*(?:\n|$)/.exec(plain)
  if (!found) throw new YamlFault('has no end (a line of ---)')
  const yaml = found[1] ?? ''
  const body = plain.slice(found[0].length).trim()
  try {
    return { matter: readYaml(yaml, limits), body, isRepaired: false }
  } catch (error) {
    if (!(error instanceof YamlFault) || error.isTooLarge) throw error
    const repaired = quoteFaultyValues(yaml, limits)
    if (repaired === yaml) throw error
    try {
      return { matter: readYaml(repaired, limits), body, isRepaired: true }
    } catch {
      throw error
    }
  }
}

/**
 * Quotes the one-line values of the top level that are not YAML, such as
 * `two duties: count` or `[file] [line]`. Authors write them, and other readers
 * of the format accept them. A list without its end is an error, not a text.
 */
const quoteFaultyValues = (yaml: string, limits: YamlLimits): string =>
  yaml.replaceAll(/^(\w[\w-]*): +([^\s"'[{].*|\[.*\].*|\{.*\}.*)$/gm, (line, key, value) =>
    REFERENCE.test(value) || isYaml(line, limits) ? line : `${key}: ${JSON.stringify(value.trimEnd())}`,
  )

/** A tag, an anchor or an alias at the beginning of a value or of an item. It stays an error: its author meant no text. */
const REFERENCE = /(?:^|[[{,]\s*)(?:!|[&*]\w)/

function isYaml(text: string, limits: YamlLimits): boolean {
  try {
    parse(text, limits)
    return true
  } catch {
    return false
  }
}

/** Writes a mapping as YAML without empty values (null, empty lists and mappings). */
export const writeYaml = (value: Yaml): string =>
  stringify(withoutEmpty(value), { lineWidth: 0, aliasDuplicateObjects: false })

/** Writes a markdown file with YAML frontmatter. */
export function writeFrontmatter(matter: Yaml, body: string): string {
  return `---\n${writeYaml(matter)}---\n${body === '' ? '' : `\n${body}\n`}`
}

const withoutEmpty = (value: Yaml): Yaml =>
  Object.fromEntries(
    Object.entries(value)
      .map(([key, inner]) => [key, isMapping(inner) ? withoutEmpty(inner) : inner] as const)
      .filter(([, inner]) => !isEmpty(inner)),
  )

const isEmpty = (value: unknown) =>
  value === null ||
  value === undefined ||
  (Array.isArray(value) && value.length === 0) ||
  (isMapping(value) && Object.keys(value).length === 0)

export const isMapping = (value: unknown): value is Yaml =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
