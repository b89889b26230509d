import type { Adapter } from './adapter.ts'
import { gemini } from './gemini.ts'
import { httpAdapter } from './http.ts'
import { noAdapter } from './none.ts'
import { opencode } from './opencode.ts'
import { processAdapter } from './process.ts'
import { runtimeA } from './runtime-a.ts'
import { runtimeB } from './runtime-b.ts'

/** Every adapter there is, in the order of the guide. */
export const ADAPTERS: readonly Adapter[] = [
  runtimeA,
  runtimeB,
  gemini,
  opencode,
  processAdapter,
  httpAdapter,
  noAdapter,
]

export const ADAPTER_TYPES: readonly string[] = ADAPTERS.map((adapter) => adapter.type)

/** The adapter of a type, or undefined when there is none. */
export const adapterOf = (type: string): Adapter | undefined => ADAPTERS.find((adapter) => adapter.type === type)
