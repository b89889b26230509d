import { toJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { packageVersion } from '../../platform/config.ts'
import { AppError } from '../../platform/errors.ts'
import type { Client } from '../client/client.ts'
import { TOOLS } from './tools.ts'

export const INSTRUCTIONS =
  'You work in an organization of agents. Begin with `inbox` to see your issues, read one with `get_context`, take it with `checkout_issue`, comment on what you do, and set it to done with `update_issue`. Name agents, projects and issues by their names and identifiers.'

export const serverInfo = () => ({ name: 'service', version: packageVersion() })

let listed: object[] | undefined

/** Describes the tools in the format of MCP. */
export function listTools() {
  listed ??= TOOLS.map(({ name, description, input, readOnly }) => ({
    name,
    description,
    inputSchema: { ...toJsonSchema(input, { typeMode: 'input', errorMode: 'ignore' }), type: 'object' },
    annotations: { readOnlyHint: readOnly, openWorldHint: false },
  }))
  return listed
}

/** The result of a call of a tool, in the format of MCP. */
interface ToolResult {
  content: { type: 'text'; text: string }[]
  isError?: boolean
}

/** A problem names the refused value, which may be long. */
const [MOST_PROBLEMS, LONGEST_PROBLEM] = [20, 300]

/** Calls a tool with the client's credentials. A failure is a result too, so that the agent can read it. */
export async function callTool(client: Client, name: string, given: unknown): Promise<ToolResult> {
  const found = TOOLS.find((tool) => tool.name === name)
  if (!found) return failure('not_found', `There is no tool ${name}. tools/list lists them.`)
  const parsed = v.safeParse(found.input, given)
  if (!parsed.success) {
    const problems = parsed.issues
      .slice(0, MOST_PROBLEMS)
      .map((issue) => `${v.getDotPath(issue) ?? 'arguments'}: ${issue.message.slice(0, LONGEST_PROBLEM)}`)
    return failure('validation_failed', problems.join('; '))
  }
  try {
    const result = await found.run(client, parsed.output as never)
    return { content: [{ type: 'text', text: typeof result === 'string' ? result : JSON.stringify(result) }] }
  } catch (error) {
    if (error instanceof AppError) return failure(error.code, error.message, error.details)
    const { code = 'failed', message } = error as { code?: string; message: string }
    return failure(code, message)
  }
}

/** Returns a failure for the agent: its code, and a message that includes the remedy. */
const failure = (code: string, error: string, details?: unknown): ToolResult => ({
  isError: true,
  content: [{ type: 'text', text: JSON.stringify({ error, code, ...(details !== undefined && { details }) }) }],
})
