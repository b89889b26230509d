/** Longer lines are no line of any protocol: they are passed over. */
const LONGEST_LINE = 1024 * 1024

/** Cuts a stream of bytes into lines of text. */
export function createLineSplitter(onLine: (line: string) => void) {
  let parts: Buffer[] = []
  let length = 0

  function add(part: Buffer) {
    length += part.length
    if (length <= LONGEST_LINE) parts.push(part)
    else parts = []
  }

  function endLine() {
    if (length > 0 && length <= LONGEST_LINE) onLine(Buffer.concat(parts).toString('utf8').replace(/\r$/, ''))
    parts = []
    length = 0
  }

  return {
    push(chunk: Buffer) {
      let from = 0
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
        add(chunk.subarray(from, at))
        endLine()
        from = at + 1
      }
      add(chunk.subarray(from))
    },
    end: endLine,
  }
}
