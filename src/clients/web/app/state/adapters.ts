import type { Received } from './api.ts'
import type { Agent } from './types.ts'

export type Adapter = Received<'GET /api/adapters'>[number]

/** The part of a JSON Schema that the forms use. */
export interface Property {
  type?: string
  description?: string
  default?: unknown
  anyOf?: readonly Property[]
}

type Kind = 'text' | 'number' | 'yes' | 'json'

/** The input in the fields of an adapter, by key. */
export type Typed = Readonly<Record<string, string>>

const NAMES: Record<string, string> = {
  runtimeA_local: 'Claude Code',
  runtimeB_local: 'Codex',
  gemini_local: 'Gemini CLI',
  opencode_local: 'OpenCode',
  process: 'Another program',
  http: 'An HTTP endpoint',
  none: 'None: an external agent',
}

export const adapterName = (type: string) => NAMES[type] ?? type

const LABELS: Record<string, string> = {
  args: 'Arguments',
  command: 'Program',
  cwd: 'Working directory',
  dangerouslyBypassApprovalsAndSandbox: 'Work without approvals and outside the sandbox',
  dangerouslySkipPermissions: 'Work without asking for permission',
  env: 'Environment variables',
  extraArgs: 'More arguments',
  graceSec: 'Grace period in seconds',
  headers: 'Headers',
  instructionsFilePath: 'Instructions file',
  maxTurns: 'Turn limit',
  model: 'Model',
  promptTemplate: 'Prompt',
  silenceSec: 'Silence limit in seconds',
  timeoutSec: 'Time limit in seconds',
  url: 'URL',
}

/** The fields that most people set. The other fields are collapsed. */
const MAIN = ['command', 'args', 'url', 'headers', 'model', 'cwd', 'instructionsFilePath']

export interface AdapterField {
  name: string
  label: string
  kind: Kind
  isMain: boolean
  isRequired: boolean
  property: Property
}

/** Returns the fields of an adapter's configuration, from its schema. */
export function fieldsOf({ configSchema }: Adapter): AdapterField[] {
  const { properties = {}, required = [] } = configSchema as {
    properties?: Record<string, Property>
    required?: readonly string[]
  }
  return Object.entries(properties)
    .map(([name, property]) => ({
      name,
      label: LABELS[name] ?? name,
      kind: kindOf(property),
      isMain: MAIN.includes(name),
      isRequired: required.includes(name),
      property,
    }))
    .toSorted((a, b) => placeOf(a.name) - placeOf(b.name))
}

const placeOf = (name: string) => (MAIN.includes(name) ? MAIN.indexOf(name) : MAIN.length)

const kindOf = (property: Property): Kind => {
  const type = property.type ?? property.anyOf?.find((one) => one.type && one.type !== 'null')?.type
  if (type === 'boolean') return 'yes'
  if (type === 'number' || type === 'integer') return 'number'
  return type === 'string' ? 'text' : 'json'
}

/** Converts a value of a configuration to the text of its field. */
export function textOf(value: unknown, kind: Kind): string {
  if (value === undefined || value === null) return ''
  return kind === 'json' ? JSON.stringify(value, null, 2) : String(value)
}

/**
 * Converts the input to a configuration. An empty field removes its key. @throws Error for a
 * field that is not valid JSON
 */
export const toConfig = (adapter: Adapter, typed: Typed): Record<string, unknown> =>
  Object.fromEntries(
    fieldsOf(adapter).flatMap((field) => {
      const text = typed[field.name]
      return text === undefined ? [] : [[field.name, parse(field, text)]]
    }),
  )

function parse({ label, kind }: AdapterField, text: string): unknown {
  if (text.trim() === '') return null
  if (kind === 'number') return Number(text)
  if (kind === 'yes') return text === 'true'
  if (kind === 'text') return text
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${label} must be JSON.`)
  }
}

/** Returns the program that an agent is configured to run, without its folder. */
export const programOf = (agent: Agent | undefined) => {
  const { command } = (agent?.adapterConfig ?? {}) as { command?: unknown }
  return typeof command === 'string' ? command.split('/').at(-1) : undefined
}
