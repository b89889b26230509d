import type { JsonSchema } from '@valibot/to-json-schema'
import { resolveSchema, type Schemas } from './schemas.ts'

/** Returns the members of a union or an intersection; an empty list for any other schema. */
export const variantsOf = ({ anyOf, oneOf, allOf }: JsonSchema): JsonSchema[] =>
  (anyOf ?? oneOf ?? allOf ?? []) as JsonSchema[]

export interface SampleOptions {
  components: Schemas['components']
  /** Returns a text for a field of a name. */
  text(name: string, schema: JsonSchema): string
  /** Whether an object has all of its fields, and not only those that it must have. */
  isWhole?: boolean
}

/** Returns a value that a schema takes. An object without required fields has its first one. */
export function sampleOf(schema: JsonSchema, options: SampleOptions, name = ''): unknown {
  const { examples, default: fallback, enum: values, properties, required = [] } = schema
  if (schema.$ref !== undefined) return sampleOf(resolveSchema(schema, options.components), options, name)
  if (Array.isArray(examples)) return examples[0]
  if (fallback !== undefined) return fallback
  if (schema.const !== undefined) return schema.const
  if (values) return values[0]
  const variant = variantsOf(schema).find(({ type }) => type !== 'null')
  if (variant) return sampleOf(variant, options, name)
  if (schema.type === 'array') return [sampleOf((schema.items ?? {}) as JsonSchema, options, name)]
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum || 1
  if (schema.type === 'boolean') return true
  if (schema.type === 'string') return options.text(name, schema)
  const names = required.length > 0 ? required : Object.keys(properties ?? {}).slice(0, 1)
  return Object.fromEntries(names.map((one) => [one, sampleOf((properties?.[one] ?? {}) as JsonSchema, options, one)]))
}

/** Sample values of text fields, by the name of the field. */
export const SAMPLE_TEXTS: Record<string, string> = {
  agentMessage: 'We need a translator.',
  body: 'Well done.',
  color: '#1a2b3c',
  confirm: 'Tern & Co',
  currentPassword: 'correct horse battery',
  decisionNote: 'As we discussed.',
  instance: '01a202f1-027e-71cd-b036-fc3d30c503c4',
  desiredSkills: 'weekly-report',
  email: 'ada@example.com',
  model: 'sonnet',
  name: 'Nora',
  newPassword: 'a better horse battery',
  path: '/srv/project/AGENTS.md',
  password: 'correct horse battery',
  provider: 'anthropic',
  q: 'walrus',
  reason: 'Something is off.',
  title: 'Count the walruses',
  url: 'https://github.com/ada/company',
  value: 'a value that stays secret',
}
