import type { Adapter } from './adapter.ts'
import { claude } from './claude.ts'
import { codex } from './codex.ts'
import { gemini } from './gemini.ts'
import { httpAdapter } from './http.ts'
import { noAdapter } from './none.ts'
import { opencode } from './opencode.ts'
import { processAdapter } from './process.ts'
import { ADAPTER_TYPES, type AdapterType } from './types.ts'

const ADAPTER_BY_TYPE: Readonly<Record<AdapterType, Adapter>> = {
  runtimeA_local: claude,
  runtimeB_local: codex,
  gemini_local: gemini,
  opencode_local: opencode,
  process: processAdapter,
  http: httpAdapter,
  none: noAdapter,
}

/** All adapters, in the order of the configuration guide. */
export const ADAPTERS: readonly Adapter[] = ADAPTER_TYPES.map((type) => ADAPTER_BY_TYPE[type])

/** Returns the adapter of a type, or undefined if the type is unknown. */
export const adapterOf = (type: string): Adapter | undefined => ADAPTERS.find((adapter) => adapter.type === type)
