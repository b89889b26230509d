import type { OutputReader, ReaderInput } from './adapter.ts'
import { geminiReader } from './gemini-reader.ts'
import { httpReader } from './http-reader.ts'
import { opencodeReader } from './opencode-reader.ts'
import { runtimeAReader } from './runtime-a-reader.ts'
import { runtimeBReader } from './runtime-b-reader.ts'

/**
 * Gives the reader of one adapter's output. The shim that watches a run loads
 * this module and not the registry: it needs no schemas and no commands.
 * An unknown type is read as a program that says nothing.
 */
export function readerOf(type: string, config: { model?: string | undefined }, run: ReaderInput): OutputReader {
  switch (type) {
    case 'runtimeA_local':
      return runtimeAReader(config, run)
    case 'runtimeB_local':
      return runtimeBReader(config, run)
    case 'gemini_local':
      return geminiReader(config, run)
    case 'opencode_local':
      return opencodeReader(config, run)
    case 'http':
      return httpReader()
    default:
      return silentReader
  }
}

/** Of a program whose output is for people: only its exit code counts. */
export const silentReader: OutputReader = { line: () => [], errorLine: () => [] }
