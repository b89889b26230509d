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
 * in a JSON string, URL-encoded, and in base64, either alone or as part of a
 * longer text (`user:secret`) at any of three alignments.
 */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  if (bytes.length < SHORTEST_SECRET) return []
  const url = encodeURIComponent(secret.toWellFormed())
  const base64 = [0, 1, 2].flatMap((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64')
    const whole = Math.floor(((shift + bytes.length) * 8) / 6)
    const core = text.slice(Math.ceil((shift * 8) / 6), whole)
    return shift === 0 ? [text, core] : [core]
  })
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    url,
    url.replaceAll('%20', '+'),
    url.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    ...base64.flatMap((text) => [text, text.replaceAll('+', '-').replaceAll('/', '_')]),
  ].filter((form) => form.length >= SHORTEST_SECRET)
}
