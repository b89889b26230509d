import { textOf } from '../../platform/source/files.ts'
import { readFrontmatter, type Yaml, YamlFault } from '../../platform/source/yaml.ts'
import { badSkillFile } from './limits.ts'

/** Stricter than for packages: anyone who may import a skill can send this text, and real frontmatter is short. */
const YAML_LIMITS = { length: 16_384, marks: 1_000, aliases: 0, keepsWrittenNumbers: false }

const MAX_NAME = 200
const MAX_DESCRIPTION = 10_000

/** The fields of a SKILL.md that the server uses. A field that the file does not have is null. */
export interface SkillHead {
  name: string | null
  description: string | null
}

/**
 * Reads the YAML frontmatter of a SKILL.md.
 *
 * @param path for errors
 * @throws AppError 422
 */
export function readSkillHead(path: string, content: Uint8Array): SkillHead {
  const text = textOf(content)
  if (text === undefined) throw badSkillFile(path, 'is not UTF-8 text, or contains NUL')
  const matter = parseFrontmatter(path, text)
  return {
    name: textField(path, matter, 'name', MAX_NAME)?.replaceAll(/\s+/g, ' ') ?? null,
    description: textField(path, matter, 'description', MAX_DESCRIPTION),
  }
}

function parseFrontmatter(path: string, text: string): Yaml {
  try {
    return readFrontmatter(text, YAML_LIMITS).matter
  } catch (error) {
    if (!(error instanceof YamlFault)) throw error
    throw badSkillFile(path, `its frontmatter ${error.message}`)
  }
}

function textField(path: string, matter: Yaml, key: string, limit: number): string | null {
  const value = Object.hasOwn(matter, key) ? (matter[key] ?? null) : null
  if (value === null) return null
  if (typeof value !== 'string') throw badSkillFile(path, `${key} must be a text`)
  const text = value.trim()
  if (text.length > limit) throw badSkillFile(path, `${key} is longer than ${limit} characters`)
  if (!text.isWellFormed() || text.includes('\0')) throw badSkillFile(path, `${key} must be Unicode text without NUL`)
  return text || null
}
