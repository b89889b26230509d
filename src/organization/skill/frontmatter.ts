import { parseDocument } from 'yaml'
import { badFile } from './paths.ts'

/** In characters: enough for every real one, and little enough for whatever a parser may be made to do with it. */
const MAX_FRONTMATTER = 16_384

const MAX_NAME = 200
const MAX_DESCRIPTION = 10_000

/** What a SKILL.md says of itself; null where it says nothing. */
export interface SkillHead {
  name: string | null
  description: string | null
}

/**
 * Reads the YAML frontmatter of a SKILL.md. Plain data only: aliases and tags
 * are refused, so that no text becomes more than it is.
 *
 * @param path for errors
 * @throws AppError 422
 */
export function readHead(path: string, content: Uint8Array): SkillHead {
  const yaml = frontmatterOf(path, decode(path, content))
  if (yaml === undefined) return { name: null, description: null }
  const head = parseYaml(path, yaml)
  return {
    name: textOf(path, head, 'name', MAX_NAME)?.replaceAll(/\s+/g, ' ') ?? null,
    description: textOf(path, head, 'description', MAX_DESCRIPTION),
  }
}

function decode(path: string, content: Uint8Array): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(content)
    if (text.includes('\0')) throw badFile(path, 'has a NUL character')
    return text
  } catch (error) {
    throw error instanceof TypeError ? badFile(path, 'is not UTF-8') : error
  }
}

/** What stands between the first line and the next one of three dashes. */
function frontmatterOf(path: string, text: string): string | undefined {
  const opening = /^---[ \t]*\r?\n/.exec(text)?.[0]
  if (opening === undefined) return undefined
  const rest = text.slice(opening.length, opening.length + MAX_FRONTMATTER + 5)
  const end = /^---[ \t]*\r?$/m.exec(rest)
  if (!end) throw badFile(path, `has frontmatter without an end within ${MAX_FRONTMATTER} characters`)
  return rest.slice(0, end.index)
}

function parseYaml(path: string, yaml: string): Map<string, unknown> {
  try {
    const document = parseDocument(yaml, { schema: 'core', uniqueKeys: true, stringKeys: true, logLevel: 'silent' })
    const fault = document.errors[0] ?? document.warnings[0]
    if (fault) throw fault
    const value: unknown = document.toJS({ mapAsMap: true, maxAliasCount: 0 })
    if (value === null) return new Map()
    if (value instanceof Map) return value
  } catch (error) {
    // Whatever a hostile text makes the parser do, a depth beyond the stack included, the text is at fault.
    throw badFile(
      path,
      `has frontmatter that is not plain YAML: ${(error as Error).message.split('\n')[0]!.slice(0, 200)}`,
    )
  }
  throw badFile(path, 'has frontmatter that is no list of keys and values')
}

function textOf(path: string, head: Map<string, unknown>, key: string, limit: number): string | null {
  const value = head.get(key)
  if (value === undefined || value === null) return null
  if (typeof value !== 'string') throw badFile(path, `${key} must be a text`)
  const text = value.trim()
  if (text.length > limit) throw badFile(path, `${key} is longer than ${limit} characters`)
  if (!text.isWellFormed() || text.includes('\0')) throw badFile(path, `${key} must be Unicode text without NUL`)
  return text || null
}
