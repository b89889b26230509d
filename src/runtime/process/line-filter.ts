/** Removes some lines from a stream of bytes. */
export interface LineFilter {
  push(chunk: Buffer): void
  /** Passes on the last line if it has no newline. */
  flush(): void
}

/** In bytes. A longer line is passed on unchecked. */
const LONGEST_NOISE = 64 * 1024

/**
 * Creates a filter of lines.
 *
 * @param isNoise whether to remove a line; undefined to pass every chunk unchanged
 * @param pass receives the remaining bytes
 */
export function createLineFilter(
  isNoise: ((text: string) => boolean) | undefined,
  pass: (clean: Buffer) => void,
): LineFilter {
  if (!isNoise) return { push: pass, flush() {} }
  let held: Buffer[] = []
  let size = 0
  let isLong = false

  const add = (bytes: Buffer) => {
    if (isLong) return pass(bytes)
    held.push(bytes)
    size += bytes.length
    if (size <= LONGEST_NOISE) return
    isLong = true
    pass(Buffer.concat(held))
    held = []
  }
  const endLine = () => {
    const line = Buffer.concat(held)
    if (line.length > 0 && !isNoise(line.toString('utf8'))) pass(line)
    held = []
    size = 0
    isLong = false
  }

  return {
    push(chunk) {
      let from = 0
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
        add(chunk.subarray(from, end + 1))
        endLine()
        from = end + 1
      }
      // Copied, so that a few remaining bytes do not keep the whole chunk in memory.
      if (from < chunk.length) add(Buffer.from(chunk.subarray(from)))
    },
    flush: endLine,
  }
}
