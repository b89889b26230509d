import { isCredentialName } from '../../adapter/ordinary-value.ts'
import { AppError, invalid } from '../../platform/errors.ts'
import { findKeys, isKeyLike, replaceKeys } from './key-formats.ts'
import { isSealed } from './sealed.ts'

export type Json = Record<string, unknown>

/** The placeholder of a secret in everything that is read. */
export const REDACTED = '[redacted]'

/** Objects that contain only secret values: an agent's environment and the headers of a request. */
const SECRET_MAPS: ReadonlySet<string> = new Set(['env', 'headers'])

/** The names of keys and options that contain a secret. `tokens` is a count and not one of them. */
const SECRET_NAME =
  /token(?!s)|secret|passw|passphrase|pwd$|api[-_]?key|private[-_]?key|access[-_]?key|authorization|bearer|credential|cookie/i

/** Whether a key, an option or a variable of this name holds a secret. */
export const isSecretName = (name: string) => SECRET_NAME.test(name)

/**
 * Redacts the recognizable secrets in a JSON object such as `adapterConfig`, at
 * any depth, and all values of its `env` and `headers`. References to stored
 * secrets remain visible.
 */
export const redact = (object: Json): Json => mapEntries(object, (key, value) => redactEntry(key, value))

/**
 * Redacts a configuration for the people who approve it: only literal secrets
 * are hidden. The other values of `env` and `headers` remain visible.
 */
export const redactLiteralSecrets = (config: Json): Json =>
  mapEntries(config, (key, value) =>
    SECRET_MAPS.has(key) && isObject(value) && !isReference(value) && !isSealed(value)
      ? redactLiteralSecrets(value)
      : typeof value === 'string' && isCredentialName(key) && isKeyLike(value)
        ? REDACTED
        : redactEntry(key, value),
  )

/**
 * Refuses a configuration that contains a secret instead of the name of a
 * stored one.
 *
 * @throws AppError 422
 */
export function refuseLiteralSecrets(config: Json, path: string): void {
  const found = changedPaths(config, redactLiteralSecrets(config), path)
  if (found.length === 0) return
  throw new AppError(
    'semantic',
    `${found.join(', ')}: a hire must not contain a secret. Store the secret and refer to it with {"$secret": "NAME"} in env or headers.`,
    { fields: found.map((path) => ({ path, message: 'contains a literal secret' })) },
  )
}

function changedPaths(value: unknown, displayed: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null || typeof displayed !== 'object' || displayed === null) {
    return value === displayed ? [] : [path]
  }
  return Object.entries(value).flatMap(([key, inner]) =>
    changedPaths(inner, (displayed as Json)[key], `${path}.${key}`),
  )
}

function redactEntry(key: string, value: unknown): unknown {
  if (isReference(value)) return value
  if (isSealed(value)) return value.shown
  if (SECRET_MAPS.has(key) && isObject(value)) {
    return mapEntries(value, (_, inner) => (isReference(inner) ? inner : REDACTED))
  }
  if (SECRET_NAME.test(key) && value !== null && typeof value !== 'boolean') return REDACTED
  return redactValue(value)
}

function redactValue(value: unknown): unknown {
  if (isSealed(value)) return value.shown
  if (typeof value === 'string')
    return redactParameters(replaceKeys(value, REDACTED).replaceAll(URL_PASSWORD, URL_REDACTED))
  if (Array.isArray(value)) return redactList(value)
  if (isObject(value) && !isReference(value)) return redact(value)
  return value
}

/** The user and password in a URL: `https://user:password@host`. */
const URL_PASSWORD = /(?<=[a-z]:\/\/)[^\s/@]+@/gi
const URL_REDACTED = `${REDACTED}@`

/** A parameter in the query or the fragment of a URL. The length of a name is bounded, so that the search takes linear time. */
const URL_PARAMETER = /(?<=[?&#])([\w.%-]{1,80})=([^\s&#"'<>`)]+)/g

/** Whether a parameter of a URL is recognizable as a secret. A variable such as `$TOKEN` or `{token}` is none. */
const isSecretParameter = (name: string, value: string) =>
  !/^[${]/.test(value) && (SECRET_NAME.test(name) || (isCredentialName(name) && isKeyLike(value)))

const redactParameters = (text: string): string =>
  text.replaceAll(URL_PARAMETER, (whole, name, value) =>
    isSecretParameter(name, value) ? `${name}=${REDACTED}` : whole,
  )

/**
 * Returns the parts of a text that are recognizable as secrets: keys and tokens
 * of known formats, and the credentials and parameters of a URL.
 */
export const secretsIn = (text: string): string[] => [
  ...findKeys(text).map(({ start, end }) => text.slice(start, end)),
  ...[...text.matchAll(URL_PASSWORD)].flatMap(([found]) => {
    const credentials = found.slice(0, -1)
    // The password is also searched for alone.
    return [credentials, ...credentials.split(':').slice(1)]
  }),
  ...[...text.matchAll(URL_PARAMETER)].flatMap(([, name, value]) => (isSecretParameter(name!, value!) ? [value!] : [])),
]

/** Redacts a list, such as command-line arguments. In `--api-key=x`, `API_KEY=x`, `X-Api-Key: x`, and `--api-key` before `x`, the x is hidden. */
function redactList(list: unknown[]): unknown[] {
  return list.map((item, i) => {
    if (typeof item !== 'string') return redactValue(item)
    const option = /^(?:-[^=\s]*=|[\w-]+(?:=|: ?)(?=\S))/.exec(item)?.[0]
    if (option && SECRET_NAME.test(option)) return `${option}${REDACTED}`
    const before = list[i - 1]
    const isOptionValue = typeof before === 'string' && /^-[^=\s]*$/.test(before) && SECRET_NAME.test(before)
    return isOptionValue && !item.startsWith('-') ? REDACTED : redactValue(item)
  })
}

/**
 * Whether a value is a reference to a stored secret by its name, `{ "$secret":
 * "NAME" }`. A reference is not a secret.
 */
const isReference = (value: unknown): boolean =>
  isObject(value) && Object.keys(value).length === 1 && typeof value.$secret === 'string'

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const mapEntries = (object: Json, change: (key: string, value: unknown) => unknown): Json =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(key, value)]))

/**
 * Restores stored secrets in a value that a client read and sent back: where
 * the client sent the redacted form of the stored value, the stored value is
 * used.
 */
export function restore(sent: Json, stored: Json): Json {
  return restoreAgainst(sent, stored, redact(stored)) as Json
}

function restoreAgainst(sent: unknown, stored: unknown, displayed: unknown): unknown {
  if (stored !== undefined && JSON.stringify(sent) === JSON.stringify(displayed)) return stored
  if (Array.isArray(sent)) {
    const [storedList, shownList] = [asList(stored), asList(displayed)]
    return sent.map((item, i) => restoreAgainst(item, storedList[i], shownList[i]))
  }
  if (!isObject(sent)) return sent
  const [storedObject, shownObject] = [asObject(stored), asObject(displayed)]
  return mapEntries(sent, (key, value) => restoreAgainst(value, own(storedObject, key), own(shownObject, key)))
}

const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const asObject = (value: unknown): Json => (isObject(value) ? value : {})
const own = (object: Json, key: string) => (Object.hasOwn(object, key) ? object[key] : undefined)

/** Refuses a placeholder that replaces no stored secret. If it were stored, an agent would receive it as its secret. */
export function refusePlaceholders(value: unknown, path: string): void {
  const found = placeholdersIn(value, path)
  if (found.length > 0) {
    throw invalid(found.map((path) => ({ path, message: `is the placeholder ${REDACTED}; send the value instead` })))
  }
}

export function placeholdersIn(value: unknown, path: string): string[] {
  if (typeof value === 'string') return value.includes(REDACTED) ? [path] : []
  if (typeof value !== 'object' || value === null || isSealed(value)) return []
  return Object.entries(value).flatMap(([key, inner]) => placeholdersIn(inner, `${path}.${key}`))
}

/**
 * Merges a patch into a JSON object (RFC 7396): objects are merged by key, null
 * removes a key, and any other value replaces the old one.
 */
export function mergePatch(target: Json, patch: Json): Json {
  const merged = new Map(Object.entries(target))
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key)
    else merged.set(key, isPlain(value) ? mergePatch(plainOrEmpty(own(target, key)), value) : value)
  }
  return Object.fromEntries(merged)
}

const isPlain = (value: unknown): value is Json => isObject(value) && !isReference(value) && !isSealed(value)
const plainOrEmpty = (value: unknown): Json => (isPlain(value) ? value : {})
