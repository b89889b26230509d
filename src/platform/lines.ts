/** Splits a stream of bytes into lines. */
export interface Lines {
  push(chunk: Buffer): void
  /** Emits the last line if it has no newline. */
  flush(): void
}

/** @param maxBytes longer lines are skipped, so that no line can fill the memory */
export function createLines(maxBytes: number, onLine: (text: string) => void): Lines {
  let parts: Buffer[] = []
  let size = 0

  const add = (bytes: Buffer) => {
    size += bytes.length
    if (size <= maxBytes) parts.push(bytes)
    else parts = []
  }
  const finish = () => {
    if (size > 0 && size <= maxBytes) onLine(Buffer.concat(parts).toString('utf8'))
    parts = []
    size = 0
  }

  return {
    push(chunk) {
      let from = 0
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
        add(chunk.subarray(from, end))
        finish()
        from = end + 1
      }
      // A copy, because a reference to a short rest would retain its whole chunk in memory.
      if (from < chunk.length) add(Buffer.from(chunk.subarray(from)))
    },
    flush: finish,
  }
}
