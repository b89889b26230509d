import path from 'node:path'
import * as v from 'valibot'
import { mayContainSecret } from '../../access/redaction/possible-secret.ts'
import { placeholdersIn, redact } from '../../access/redaction/redact.ts'
import { adapterOf } from '../../adapter/registry.ts'
import { resolveAdapterAlias } from '../../adapter/types.ts'
import { isMapping } from '../../platform/source/yaml.ts'
import type { PackageWarning } from '../source/warning.ts'
import { type Findings, readFields } from './fields.ts'

/** The adapter of an agent that does not name one. */
export const DEFAULT_ADAPTER = 'runtimeA_local'

/** The keys of a configuration that belong to one machine or contain private values. */
const LOCAL_KEYS = ['cwd', 'env', 'headers', 'instructionsFilePath']

interface AdapterChoice {
  adapterType: string
  adapterConfig: Record<string, unknown>
}

/**
 * Reads the adapter of an agent from a sidecar. An unknown adapter becomes the
 * default one, and a key that the adapter does not accept is removed, each with
 * a warning. The agent is imported in any case.
 */
export function readAdapter(entry: unknown, file: string, findings: Findings): AdapterChoice {
  const warn = (message: string) => void findings.warnings.push({ code: 'adapter', path: file, message })
  const fields = readFields(isMapping(entry) ? entry : {}, file, findings)
  fields.noteUnknown(['type', 'config'])
  const named = fields.line('type') ?? DEFAULT_ADAPTER
  const adapterType = resolveAdapterAlias(named)
  if (!adapterOf(adapterType)) {
    warn(`There is no adapter ${named}. ${DEFAULT_ADAPTER} is used instead.`)
    return { adapterType: DEFAULT_ADAPTER, adapterConfig: {} }
  }
  const config = { ...fields.mapping('config') }
  for (const key of LOCAL_KEYS.filter((key) => Object.hasOwn(config, key))) {
    delete config[key]
    warn(`${key} is specific to one machine and is not imported. Set it after the import.`)
  }
  for (const key of placeholdersIn(config, '').map((at) => at.split('.')[1]!)) delete config[key]
  const adapterConfig = withoutFaults(adapterType, config, warn)
  if (adapterConfig) return { adapterType, adapterConfig }
  warn(`The configuration for ${adapterType} is incomplete. ${DEFAULT_ADAPTER} is used instead.`)
  return { adapterType: DEFAULT_ADAPTER, adapterConfig: {} }
}

/** Returns a configuration without the keys that its adapter refuses; undefined if it lacks a required key. */
function withoutFaults(type: string, config: Record<string, unknown>, warn: (message: string) => void) {
  const schema = adapterOf(type)!.config
  for (;;) {
    const result = v.safeParse(schema, config)
    if (result.success) return config
    const keys = new Set(result.issues.map((issue) => String(issue.path?.[0]?.key)))
    const present = [...keys].filter((key) => Object.hasOwn(config, key))
    if (present.length === 0) return undefined
    for (const key of present) {
      delete config[key]
      warn(`${type} does not accept the value of ${key.slice(0, 100)}, which is not imported.`)
    }
  }
}

/**
 * Returns the part of an agent's adapter that may be exported: no secrets, no
 * paths of this machine, no environment. A configuration that could not be
 * imported is omitted entirely.
 */
export function portableAdapter(type: string, config: Record<string, unknown>, file: string) {
  const warnings: PackageWarning[] = []
  const leave = (key: string, why: string) => {
    warnings.push({ code: 'left_out', path: file, message: `adapterConfig.${key} ${why} and is not exported.` })
  }
  const entries = Object.entries(redact(config)).flatMap(([key, value]) => {
    if (LOCAL_KEYS.includes(key)) return []
    if (key === 'command' && typeof value === 'string' && path.isAbsolute(value)) {
      warnings.push({ code: 'left_out', path: file, message: 'The command is exported without its folder.' })
      return [[key, path.basename(value)] as const]
    }
    if (placeholdersIn(value, key).length > 0) return leave(key, 'contains a secret') ?? []
    if (key !== 'promptTemplate' && mayContainSecret(value)) return leave(key, 'may contain a secret') ?? []
    if (namesLocalPath(value)) return leave(key, 'names a path of this machine') ?? []
    return [[key, value] as const]
  })
  const adapterConfig = Object.fromEntries(entries)
  const adapter = adapterOf(type)
  if (adapter && v.is(adapter.config, adapterConfig)) return { adapterType: type, adapterConfig, warnings }
  warnings.push({
    code: 'left_out',
    path: file,
    message: `Without these settings the configuration for ${type} is incomplete; it is not exported.`,
  })
  return { adapterType: DEFAULT_ADAPTER, adapterConfig: {}, warnings }
}

/** Whether a value is or contains an absolute path or a path below the home folder, also as `--option=/path`. */
export function namesLocalPath(value: unknown): boolean {
  if (typeof value === 'string') return /(^|[=:,\s"'])(~?\/[^/\s]|[A-Za-z]:\\)/.test(value)
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some(namesLocalPath)
}
