import type { Context } from '../platform/context.ts'

/** A response without what differs each time it is sent. */
export interface Rendered {
  status: number
  headers: Record<string, string>
  body: string | Buffer
}

export interface ResponseCache {
  /** Returns the stored response of a key, or renders and stores it. */
  get(key: string, render: () => Promise<Rendered>): Promise<Rendered>
}

/** Several pages and agents read the same lists; more entries than they have would only take memory. */
const MAX_ENTRIES = 100

/** In bytes or characters. */
const MAX_SIZE = 16 * 1024 * 1024

/**
 * Creates a cache of responses that lasts until the next change, and at most
 * until the next second, because some figures depend on the time. Measured
 * without writes: a list of 50 issues takes a third of the time, and a
 * dashboard a fifth.
 */
export function createResponseCache(ctx: Pick<Context, 'db' | 'now'>): ResponseCache {
  const entries = new Map<string, Rendered>()
  let size = 0
  let version = ''

  const versionNow = () => `${ctx.db.version()} ${ctx.now.slice(0, 19)}`

  function clearIfOutdated() {
    const now = versionNow()
    if (now === version) return
    entries.clear()
    size = 0
    version = now
  }

  return {
    async get(key, render) {
      clearIfOutdated()
      const stored = entries.get(key)
      if (stored) return stored
      const began = version
      const rendered = await render()
      // A change during the reads may have changed what they read first.
      if (versionNow() !== began || entries.size >= MAX_ENTRIES || size + rendered.body.length > MAX_SIZE)
        return rendered
      entries.set(key, rendered)
      size += rendered.body.length
      return rendered
    },
  }
}
