import * as v from 'valibot'
import type { Client } from '../client/client.ts'

/** A tool of the MCP server. Agents receive its name, description and input schema. */
export interface Tool {
  name: string
  description: string
  input: v.GenericSchema
  /** Whether the tool only reads. */
  readOnly: boolean
  /** @param args fit `input` */
  run(client: Client, args: never): Promise<unknown>
}

/** Declares a tool whose `run` receives the validated input. */
export function tool<const Entries extends v.ObjectEntries>(definition: {
  name: string
  description: string
  input: Entries
  readOnly?: boolean
  run(client: Client, args: v.InferOutput<v.StrictObjectSchema<Entries, undefined>>): Promise<unknown>
}): Tool {
  const { name, description, input, readOnly = false, run } = definition
  return { name, description, input: v.strictObject(input), readOnly, run: run as Tool['run'] }
}

/** In characters, as in the API. A name of 2 MB takes 100 ms to look up. */
const LONGEST_TEXT = 100_000

const text = (description: string) =>
  v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(LONGEST_TEXT, 'must be at most 100,000 characters'),
    v.description(description),
  )

/** Inputs that several tools have. */
export const arg = {
  text,
  optional: (description: string) => v.optional(text(description)),
  company: v.optional(text('The company: its name, issue prefix or id. Needed only if you can reach several.')),
  issue: text('The issue: its identifier, such as TER-12, or its id.'),
  agent: text('The agent: its name or id, or `me`.'),
  limit: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100), v.description('At most this many; default 20.')),
    20,
  ),
}
