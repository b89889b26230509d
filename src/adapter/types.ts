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
