import type { OutputReader, RunInput } from './adapter.ts'

/**
 * Gives the reader of one adapter's output. The shim that watches a run loads
 * this module and not the registry: it needs no schemas and no commands.
 * An unknown type is read as a program that says nothing.
 */
export function readerOf(
  _type: string,
  _config: { model?: string | undefined },
  _run: Pick<RunInput, 'session' | 'newSessionId'>,
): OutputReader {
  return silentReader
}

/** Of a program whose output is for people: only its exit code counts. */
export const silentReader: OutputReader = { line: () => [], errorLine: () => [] }
