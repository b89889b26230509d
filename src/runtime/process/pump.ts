import type { Readable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import type { Fact } from '../../adapter/adapter.ts'
import { readerOf } from '../../adapter/readers.ts'
import { cut } from '../../adapter/usage.ts'
import { createLines } from '../../platform/lines.ts'
import type { CappedLog } from './capped-log.ts'
import type { FactLog } from './fact-log.ts'
import { createLineFilter } from './line-filter.ts'
import type { RunSpec } from './run-files.ts'
import { createScrubber } from './scrubber.ts'

/** Passes a command's output through the scrubber to the log and, line by line, to the adapter's reader. */
export interface Pump {
  /** Reads a stream to its end. Resolves when it is closed. */
  read(name: 'stdout' | 'stderr', stream: Readable): Promise<void>
  bytes: { stdout: number; stderr: number }
  /** Returns the last line of standard error that is neither blank nor a hint, which is often the cause of a failure. */
  lastError(): string | null
  /**
   * Flushes the buffered bytes, and lets the reader read the program's files to
   * the end. Call it once, when the streams are closed or no longer awaited.
   */
  close(): void
}

/** The interval at which the reader polls the files that the program writes, in milliseconds. */
const POLL_MS = 200

/** What programs print after the cause of a usage error; indented lines continue it. */
const HINT = /^\s*(?:usage|tip|hint|try|see|for (?:more|help|usage))\b/i

/** In characters. The last line becomes part of the run's error. */
const LONGEST_ERROR = 300

/** In bytes. A longer line is logged, but the reader does not receive it. */
const LONGEST_LINE = 1024 * 1024

/**
 * Creates the pump of one run. It processes each chunk completely, including
 * the write, before it reads the next. A flood of output therefore blocks in the
 * command's pipe and does not fill the memory of this process.
 */
export function createPump(
  spec: Pick<RunSpec, 'redact' | 'reader' | 'env'>,
  to: { log: CappedLog; facts: FactLog; onOutput(): void; onFacts(facts: readonly Fact[]): void },
): Pump {
  const bytes = { stdout: 0, stderr: 0 }
  let lastError: string | null = null
  const reader = readerOf(spec.reader.type, spec.reader.config, { env: spec.env, ...spec.reader })
  const ends: (() => void)[] = []
  const take = (read: () => Fact[]) => {
    const facts = factsOf(read)
    to.onFacts(facts)
    to.facts.add(facts)
  }
  const poll = (isEnd = false) => {
    if (reader.poll) take(() => reader.poll!(isEnd))
    to.facts.flush()
  }
  const polling = reader.poll && setInterval(() => poll(), POLL_MS)

  const read = (name: 'stdout' | 'stderr', stream: Readable): Promise<void> => {
    const scrubber = createScrubber(spec.redact)
    const readLine = name === 'stdout' ? reader.line : reader.errorLine
    let isHint = false
    const lines = createLines(LONGEST_LINE, (line) => {
      // Some programs colour their errors although nobody sees them.
      const text = name === 'stderr' ? stripVTControlCharacters(line) : line
      isHint = HINT.test(text) || (isHint && /^\s+\S/.test(text))
      if (name === 'stderr' && text.trim() && !isHint) lastError = cut(text.trim(), LONGEST_ERROR)
      take(() => readLine(text))
    })
    const filter = createLineFilter(name === 'stdout' ? reader.isNoise : undefined, to.log.write)
    const passOn = (clean: Buffer) => {
      filter.push(clean)
      lines.push(clean)
    }
    stream.on('data', (chunk: Buffer) => {
      bytes[name] += chunk.length
      to.onOutput()
      passOn(scrubber.push(chunk))
      to.facts.flush()
    })
    stream.on('error', () => {}) // a broken pipe counts as the end of the stream
    ends.push(() => {
      stream.destroy()
      passOn(scrubber.flush())
      filter.flush()
      lines.flush()
    })
    return new Promise((resolve) => stream.once('close', resolve))
  }

  return {
    read,
    bytes,
    lastError: () => lastError,
    close() {
      clearInterval(polling)
      for (const end of ends) end()
      poll(true)
    },
  }
}

/** Readers should not throw. If one does, its line yields no facts, and the run continues. */
function factsOf(read: () => Fact[]): Fact[] {
  try {
    return read()
  } catch {
    return []
  }
}
