import { isAlias, isScalar, parseDocument, stringify, visit } from 'yaml'

export type Yaml = Record<string, unknown>

/** Why a text could not be read; the message is a clause. */
export class YamlFault extends Error {}

/** The longest YAML that is parsed, in characters: its parser recurses and compares keys. */
const MAX_LENGTH = 512 * 1024

/** How often anchors may be referred to: a bomb of aliases of aliases needs more. */
const MAX_ALIASES = 50

/**
 * Reads YAML whose top is a mapping; an empty text is an empty one. Plain
 * values only: a tag that is not of YAML's core is refused, and what looks
 * like a number but would not be written the same (`1.0`, `007`) stays a text.
 *
 * @throws YamlFault
 */
export function readYaml(text: string): Yaml {
  if (text.length > MAX_LENGTH) throw new YamlFault(`is longer than ${MAX_LENGTH} characters`)
  const value = parse(text)
  if (value === null || value === undefined) return {}
  if (typeof value !== 'object' || Array.isArray(value)) throw new YamlFault('must be a mapping of names to values')
  return value as Yaml
}

function parse(text: string): unknown {
  try {
    const document = parseDocument(text, { schema: 'core', prettyErrors: false, stringKeys: true, uniqueKeys: true })
    const fault = document.errors[0] ?? document.warnings[0]
    if (fault) throw new YamlFault(`is no plain YAML: ${fault.message.slice(0, 200)}`)
    let aliases = 0
    visit(document, {
      Node(_, node) {
        if (isAlias(node) && ++aliases > MAX_ALIASES) throw new YamlFault('has too many aliases')
        if (isScalar(node) && typeof node.value === 'number' && node.source && String(node.value) !== node.source) {
          node.value = node.source
        }
      },
    })
    return document.toJS({ maxAliasCount: MAX_ALIASES })
  } catch (error) {
    if (error instanceof YamlFault) throw error
    // The stack's end, for one: what nests so deep is no package's own.
    throw new YamlFault(`is no plain YAML: ${(error as Error).message.slice(0, 200)}`)
  }
}

/** A markdown file with YAML frontmatter; one without has an empty mapping. Line ends come out as `\n`. */
export function readFrontmatter(text: string): { matter: Yaml; body: string } {
  const plain = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')
  const found = /^---[ \t]*\n(?:([\s\S]*?)\n)?---[ \t]*(?:\n|$)/.exec(plain)
  if (!found) return { matter: {}, body: plain.trim() }
  return { matter: readYaml(found[1] ?? ''), body: plain.slice(found[0].length).trim() }
}

/** Writes a mapping; keys without a value (null, empty lists and mappings) are left out. */
export const writeYaml = (value: Yaml): string =>
  stringify(prune(value), { lineWidth: 0, aliasDuplicateObjects: false })

export function writeFrontmatter(matter: Yaml, body: string): string {
  return `---\n${writeYaml(matter)}---\n${body === '' ? '' : `\n${body}\n`}`
}

const prune = (value: Yaml): Yaml =>
  Object.fromEntries(
    Object.entries(value)
      .map(([key, inner]) => [key, isMapping(inner) ? prune(inner) : inner] as const)
      .filter(([, inner]) => !isEmpty(inner)),
  )

const isEmpty = (value: unknown) =>
  value === null ||
  value === undefined ||
  (Array.isArray(value) && value.length === 0) ||
  (isMapping(value) && Object.keys(value).length === 0)

export const isMapping = (value: unknown): value is Yaml =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
