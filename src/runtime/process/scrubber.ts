import { isOrdinaryValue } from '../../adapter/ordinary-value.ts'

/** Replaces secrets in a stream of bytes, including secrets that are split across chunks. */
export interface Scrubber {
  /** Returns the bytes that are safe to write. Buffers the end of a chunk if it may be the beginning of a secret. */
  push(chunk: Buffer): Buffer
  /** Returns the buffered bytes at the end of the stream. */
  flush(): Buffer
}

const REDACTED = Buffer.from('[redacted]')

/** In bytes. Shorter values would redact ordinary words and numbers. */
const SHORTEST_SECRET = 4

/**
 * Creates a scrubber for the given secrets, in every form that `formsOf` lists,
 * and for all credentials of this service: of agents, people and runs.
 */
export function createScrubber(secrets: readonly string[]): Scrubber {
  const known = createSecretScrubber(secrets)
  const own = createCredentialScrubber()
  return {
    push: (chunk) => own.push(known.push(chunk)),
    flush: () => Buffer.concat([own.push(known.flush()), own.flush()]),
  }
}

/** Keys of agents and tokens of people (prefix, 32 bytes, checksum), and run tokens, which are JWTs. */
const CREDENTIAL = /svcb?_[\w-]{49}|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{16,}/g

/** The end of a text that may be the beginning of a credential. */
const BEGINNING = /(?:s|sv|svc|svcb|svcb?_[\w-]*|e|ey|eyJ[\w-]*(?:\.[\w-]*){0,2})$/

/** In bytes. A run's token has about 500. */
const LONGEST_CREDENTIAL = 2_048

function createCredentialScrubber(): Scrubber {
  let held: Buffer = Buffer.alloc(0)
  // latin1 keeps each byte as one character.
  const clean = (data: Buffer) =>
    data.includes('svc') || data.includes('eyJ')
      ? Buffer.from(data.toString('latin1').replaceAll(CREDENTIAL, String(REDACTED)), 'latin1')
      : data
  return {
    push(chunk) {
      const data = held.length > 0 ? Buffer.concat([held, chunk]) : chunk
      const from = Math.max(0, data.length - LONGEST_CREDENTIAL)
      const begins = BEGINNING.exec(data.toString('latin1', from))
      const end = begins ? from + begins.index : data.length
      held = Buffer.from(data.subarray(end))
      return clean(data.subarray(0, end))
    },
    flush: () => clean(held),
  }
}

/**
 * Creates a scrubber for the given secrets. The leftmost match wins, then the
 * longest, so the result does not depend on the division into chunks.
 */
function createSecretScrubber(secrets: readonly string[]): Scrubber {
  const patterns = [...new Set(secrets.flatMap(formsOf))].map((form) => Buffer.from(form))
  patterns.sort((a, b) => b.length - a.length)
  const longest = patterns[0]?.length ?? 0
  const firstBytes = new Uint8Array(256)
  for (const pattern of patterns) firstBytes[pattern[0]!] = 1
  let held: Buffer = Buffer.alloc(0)

  /** Returns the position of the first possible beginning of an incomplete secret at the end of the data. */
  const holdFrom = (data: Buffer, from: number): number => {
    for (let start = Math.max(from, data.length - longest + 1); start < data.length; start++) {
      if (firstBytes[data[start]!] === 0) continue
      const length = data.length - start
      if (patterns.some((p) => p.length > length && data.compare(p, 0, length, start) === 0)) return start
    }
    return data.length
  }

  const scrub = (data: Buffer, hold: boolean): Buffer => {
    const next = patterns.map((pattern) => data.indexOf(pattern))
    const parts: Buffer[] = []
    let position = 0
    for (;;) {
      const holdAt = hold ? holdFrom(data, position) : data.length
      let match = -1
      for (let i = 0; i < patterns.length; i++) {
        if (next[i]! >= 0 && next[i]! < position) next[i] = data.indexOf(patterns[i]!, position)
        if (next[i]! >= 0 && (match < 0 || next[i]! < next[match]!)) match = i
      }
      if (match < 0 || next[match]! >= holdAt) {
        held = Buffer.from(data.subarray(holdAt))
        const rest = data.subarray(position, holdAt)
        return parts.length === 0 ? rest : Buffer.concat([...parts, rest])
      }
      parts.push(data.subarray(position, next[match]!), REDACTED)
      position = next[match]! + patterns[match]!.length
    }
  }

  if (patterns.length === 0) return { push: (chunk) => chunk, flush: () => held }
  return {
    push: (chunk) => scrub(held.length > 0 ? Buffer.concat([held, chunk]) : chunk, true),
    flush: () => scrub(held, false),
  }
}

/**
 * Returns the forms in which a secret can appear in output: unchanged, escaped
 * in JSON up to three times, URL-encoded, and in base64, either alone, wrapped
 * into lines, or as part of a longer text (`user:secret`) at any of three
 * alignments. Each line of a secret of several lines, such as a key file, is a
 * secret too, because programs indent and quote lines.
 */
function formsOf(secret: string): string[] {
  if (Buffer.byteLength(secret) < SHORTEST_SECRET) return []
  const lines = secret.split(/\r?\n/).map((line) => line.trim())
  const secretLines = lines.length > 1 ? lines.filter((line) => !isOrdinaryValue('', line)) : []
  const parts = [...new Set([secret, secret.trim(), ...secretLines])]
  return [...parts.flatMap((part) => [part, ...jsonForms(part), ...urlForms(part)]), ...base64Forms(secret)].filter(
    (form) => form.length >= SHORTEST_SECRET,
  )
}

/** A tool prints JSON (1), a program reports the output of the tool in JSON (2), and another program that of the program (3). */
const JSON_LEVELS = 3

/** Some encoders also escape slashes, or all characters outside of ASCII. */
function jsonForms(text: string): string[] {
  const forms: string[] = []
  let level = [text]
  for (let i = 0; i < JSON_LEVELS; i++) {
    const escaped = level.map((form) => JSON.stringify(form).slice(1, -1))
    level = [
      ...new Set(
        escaped.flatMap((form) => [form, form.replace(/[\u0080-\uffff]/g, toEscape), form.replaceAll('/', '\\/')]),
      ),
    ]
    forms.push(...level)
  }
  return forms
}

const toEscape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Encoders differ in the characters that they leave unchanged, in the case of hexadecimal digits, and in the code of a space. */
function urlForms(secret: string): string[] {
  const text = secret.toWellFormed()
  const url = encodeURIComponent(text)
  const strict = url.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
  const form = String(new URLSearchParams({ '': text })).slice(1)
  return [url, strict, strict.replaceAll('%2F', '/'), encodeURI(text), form].flatMap((one) => {
    const spaces = one.replaceAll('%20', '+')
    return [one, spaces, ...[one, spaces].map((each) => each.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()))]
  })
}

/** The lengths of the lines of base64 in the output of `base64`, and in PEM files. */
const BASE64_LINES = [/.{1,76}/g, /.{1,64}/g]

function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const whole = bytes.toString('base64')
  const cores = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64')
    return text.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6))
  })
  // A short last line is no key, but may be an ordinary word.
  const lines = BASE64_LINES.flatMap((line) => cores[0]!.match(line) ?? []).filter((line) => line.length >= 16)
  return [whole, ...cores, ...lines].flatMap((text) => [text, text.replaceAll('+', '-').replaceAll('/', '_')])
}
