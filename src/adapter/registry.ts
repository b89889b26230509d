import * as v from 'valibot'
import type { Adapter } from './adapter.ts'

const loose = (type: string, instructionsKey: string | null): Adapter => ({
  type,
  summary: '',
  config: v.record(v.string(), v.unknown()),
  instructionsKey,
  installHint: null,
  resumes: false,
  command: () => ({ command: 'true', args: [], env: {}, stdin: '' }),
  reader: () => ({ line: () => [], errorLine: () => [] }),
})

/** Every adapter there is, in the order of the guide. */
export const ADAPTERS: readonly Adapter[] = [
  loose('runtimeA_local', 'instructionsFilePath'),
  loose('runtimeB_local', 'instructionsFilePath'),
  loose('process', null),
  loose('http', null),
]

export const ADAPTER_TYPES: readonly string[] = ADAPTERS.map((adapter) => adapter.type)

/** The adapter of a type, or undefined when there is none. */
export const adapterOf = (type: string): Adapter | undefined => ADAPTERS.find((adapter) => adapter.type === type)
