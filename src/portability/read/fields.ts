import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import { isMapping, type Yaml } from '../../platform/source/yaml.ts'
import { slugOf } from '../../platform/url-key.ts'
import type { PackageWarning } from '../source/warning.ts'

/** The results of validation: problems refuse the package, warnings inform a person. */
export interface Findings {
  problems: { path: string; message: string }[]
  warnings: PackageWarning[]
}

/**
 * Reads the fields of a mapping leniently: a number counts as a text, and a
 * single item as a list of one. A value of another type, or one that is too
 * long, is a problem of its file.
 */
export function readFields(mapping: Yaml, path: string, findings: Findings) {
  const get = (key: string) => (Object.hasOwn(mapping, key) ? (mapping[key] ?? null) : null)
  const problem = (message: string) => void findings.problems.push({ path, message })

  /** Reads a text with a schema of the API, so that the value can also be stored. */
  const checked = (schema: typeof field.name | typeof field.text, key: string): string | null => {
    const value = get(key)
    if (value === null) return null
    const text = typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : undefined
    if (text === '') return null
    const result = v.safeParse(schema, text)
    if (result.success) return result.output
    problem(`${key} ${text === undefined ? 'must be a text' : result.issues[0].message}`)
    return null
  }

  return {
    has: (key: string) => Object.hasOwn(mapping, key),
    get,
    problem,
    /** A line of at most 200 characters. */
    line: (key: string) => checked(field.name, key),
    text: (key: string) => checked(field.text, key),
    one<const T extends string>(key: string, options: readonly T[]): T | null {
      const value = get(key)
      if (value === null) return null
      const found = options.find((option) => option === value)
      if (found === undefined) problem(`${key} must be one of ${options.join(', ')}`)
      return found ?? null
    },
    count(key: string, limit: number): number | null {
      const value = get(key)
      if (value === null) return null
      if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= limit) return value as number
      problem(`${key} must be a whole number from 0 to ${limit}`)
      return null
    },
    flag: (key: string) => get(key) === true,
    list(key: string): string[] {
      const value = get(key)
      const items = value === null ? [] : Array.isArray(value) ? value : [value]
      const texts = items.filter((item) => typeof item === 'string' || typeof item === 'number').map(String)
      if (texts.length < items.length) problem(`${key} must be a list of texts`)
      return texts
    },
    mapping(key: string): Yaml {
      const value = get(key)
      if (value === null || isMapping(value)) return value ?? {}
      problem(`${key} must be a mapping`)
      return {}
    },
    /** Returns the fields that no reader uses, for the next export, and adds a warning about them. */
    rest(known: readonly string[]): Yaml {
      const unknown = Object.entries(mapping).filter(([key]) => !known.includes(key))
      if (unknown.length > 0) {
        const names = namesOf(unknown.map(([key]) => key))
        const message = `These fields have no effect here. They are kept for the next export: ${names}.`
        findings.warnings.push({ code: 'kept', path, message })
      }
      return Object.fromEntries(unknown)
    },
    /** Warns about fields that no reader uses. */
    noteUnknown(known: readonly string[]): void {
      const unknown = Object.keys(mapping).filter((key) => !known.includes(key))
      if (unknown.length === 0) return
      findings.warnings.push({ code: 'left_out', path, message: `These fields are not imported: ${namesOf(unknown)}.` })
    },
  }
}

/** The maximum number of names in a warning. */
const MAX_NAMES = 20

const namesOf = (names: readonly string[]) =>
  `${names.slice(0, MAX_NAMES).join(', ').slice(0, 400)}${names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : ''}`

export type Fields = ReturnType<typeof readFields>

/**
 * Returns the slug that a reference means: a slug, a name (`Staff Engineer`),
 * or a path to the entity's file (`../../agents/cto/AGENTS.md`).
 */
export function slugOfReference(reference: string): string {
  const path = reference.trim().replace(/\/[A-Z]+\.md$/, '')
  return toSlug(path.split('/').at(-1)!)
}

/** Returns a slug unchanged, and any other text as the slug of a name, which may be empty. */
export const toSlug = (text: string): string => (isSlug(text) ? text : slugOf(text))

const isSlug = (text: string) => text.length <= 80 && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(text)
