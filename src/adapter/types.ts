/**
 * The types of all adapters. They are apart from the registry, so that programs
 * that need only the names do not load the adapters.
 */
export const ADAPTER_TYPES = [
  'runtimeA_local',
  'runtimeB_local',
  'gemini_local',
  'opencode_local',
  'process',
  'http',
  'none',
] as const

export type AdapterType = (typeof ADAPTER_TYPES)[number]

/** The names of the two local adapters in clients and packages of similar products. */
const ALIASES: ReadonlyMap<string, AdapterType> = new Map([
  ['claude_local', 'runtimeA_local'],
  ['codex_local', 'runtimeB_local'],
])

/** Returns the type of an adapter for one of its other names. Any other text is returned unchanged. */
export const resolveAdapterAlias = (name: string): string => ALIASES.get(name) ?? name
