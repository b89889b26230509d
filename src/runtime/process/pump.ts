import type { Readable } from 'node:stream'
import type { Fact } from '../../adapter/adapter.ts'
import { readerOf } from '../../adapter/readers.ts'
import { cut } from '../../adapter/usage.ts'
import { createLines } from '../../platform/lines.ts'
import type { CappedLog } from './capped-log.ts'
import type { FactLog } from './fact-log.ts'
import { createLineFilter } from './line-filter.ts'
import type { RunSpec } from './run-files.ts'
import { createScrubber } from './scrubber.ts'

/** Carries a command's output through the scrubber into the log and, a line at a time, to the adapter's reader. */
export interface Pump {
  /** Reads a stream to its end; settles when it is closed. */
  read(name: 'stdout' | 'stderr', stream: Readable): Promise<void>
  bytes: { stdout: number; stderr: number }
  /** The last line of standard error that is not blank: often the cause of a failure. */
  lastError(): string | null
  /** Gives out what was held back, and reads what the program wrote elsewhere to its end. Call it once, when the streams are closed or given up. */
  close(): void
}

/** How often the reader looks at what the program writes elsewhere, in milliseconds. */
const POLL_MS = 200

/** In characters: it goes into the run's error. */
const LONGEST_ERROR = 300

/** In bytes; a longer line is kept in the log and is nothing for the reader. */
const LONGEST_LINE = 1024 * 1024

/**
 * Everything is done, to the write, before the next chunk is read: a flood
 * waits in the command's pipe and never in this process.
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
  const poll = () => {
    if (reader.poll) take(reader.poll)
    to.facts.settle()
  }
  const polling = reader.poll && setInterval(poll, POLL_MS)

  const read = (name: 'stdout' | 'stderr', stream: Readable): Promise<void> => {
    const scrubber = createScrubber(spec.redact)
    const readLine = name === 'stdout' ? reader.line : reader.errorLine
    const lines = createLines(LONGEST_LINE, (text) => {
      if (name === 'stderr' && text.trim()) lastError = cut(text.trim(), LONGEST_ERROR)
      take(() => readLine(text))
    })
    const filter = createLineFilter(name === 'stdout' ? reader.isNoise : undefined, to.log.write)
    const give = (clean: Buffer) => {
      filter.push(clean)
      lines.push(clean)
    }
    stream.on('data', (chunk: Buffer) => {
      bytes[name] += chunk.length
      to.onOutput()
      give(scrubber.push(chunk))
      to.facts.settle()
    })
    stream.on('error', () => {}) // a pipe that breaks has ended
    ends.push(() => {
      stream.destroy()
      give(scrubber.flush())
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
      poll()
    },
  }
}

/** A reader never throws; if one does, the line says nothing and the run goes on. */
function factsOf(read: () => Fact[]): Fact[] {
  try {
    return read()
  } catch {
    return []
  }
}
