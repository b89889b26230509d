import type { OutputReader, ReaderInput } from './adapter.ts'
import { claudeReader } from './claude-reader.ts'
import { codexReader } from './codex-reader.ts'
import { geminiReader } from './gemini-reader.ts'
import { httpReader } from './http-reader.ts'
import { opencodeReader } from './opencode-reader.ts'

/**
 * Creates the reader of an adapter's output. The shim loads this module instead
 * of the registry, because it needs neither schemas nor commands. For an unknown
 * type the reader finds no facts.
 */
export function readerOf(type: string, config: { model?: string | undefined }, run: ReaderInput): OutputReader {
  switch (type) {
    case 'runtimeA_local':
      return claudeReader(config, run)
    case 'runtimeB_local':
      return codexReader(config, run)
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

/** The reader of a program whose output contains no facts. Only its exit code counts. */
export const silentReader: OutputReader = { line: () => [], errorLine: () => [] }
