/** Takes secrets out of a stream of bytes. */
export interface Scrubber {
  /** @returns what of the stream so far can be shown; the rest may be the beginning of a secret */
  push(chunk: Buffer): Buffer
  /** The held-back rest, at the end of the stream. */
  end(): Buffer
}

const REPLACEMENT = '[redacted]'

/** Shorter values would blank out ordinary text, and are no secrets. */
const SHORTEST_SECRET = 6

/**
 * Replaces secrets by value, however they come: as they are, URL-encoded, in
 * base64 at any alignment (a `user:secret` pair too), and across chunks.
 */
export function createScrubber(secrets: readonly string[]): Scrubber {
  const patterns = [...new Set(secrets.filter((secret) => secret.length >= SHORTEST_SECRET).flatMap(forms))]
    // The longest first, so that no part of a secret is left when another begins alike.
    .sort((a, b) => b.length - a.length)
  const any = new RegExp(patterns.map((pattern) => pattern.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')).join('|'), 'g')
  const longest = patterns[0]?.length ?? 0
  let held = ''

  return {
    push(chunk) {
      if (longest === 0) return chunk
      // As Latin-1, a character is a byte: multi-byte text survives being cut anywhere.
      const text = (held + chunk.toString('latin1')).replace(any, REPLACEMENT)
      const keep = lengthOfBeginning(text, patterns, longest)
      held = text.slice(text.length - keep)
      return Buffer.from(text.slice(0, text.length - keep), 'latin1')
    },
    end() {
      const rest = Buffer.from(held, 'latin1')
      held = ''
      return rest
    },
  }
}

/** How many of the last characters are the beginning of a pattern, at the most. */
function lengthOfBeginning(text: string, patterns: readonly string[], longest: number): number {
  for (let length = Math.min(longest - 1, text.length); length > 0; length--) {
    const ending = text.slice(-length)
    if (patterns.some((pattern) => pattern.length > length && pattern.startsWith(ending))) return length
  }
  return 0
}

function forms(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const encoded = [0, 1, 2].flatMap((alignment) => {
    const padded = Buffer.concat([Buffer.alloc(alignment), bytes])
    // Without the characters that also carry bits of what stands before or after the secret.
    const from = [0, 2, 3][alignment]!
    const to = Math.floor((padded.length * 4) / 3)
    const core = padded.toString('base64').slice(from, padded.length % 3 === 0 ? undefined : to)
    return [core, core.replaceAll('+', '-').replaceAll('/', '_')]
  })
  return [
    bytes.toString('latin1'),
    encodeURIComponent(secret),
    ...encoded.filter((core) => core.length >= SHORTEST_SECRET),
  ]
}
