import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { CallToolRequestSchema, type CallToolResult, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { toJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { packageVersion } from '../../platform/config.ts'
import { AppError } from '../../platform/errors.ts'
import type { Client } from '../client/client.ts'
import { TOOLS } from './tools.ts'

const INSTRUCTIONS =
  'You work in an organization of agents. Begin with `inbox` to see your issues, read one with `get_context`, take it with `checkout_issue`, comment on what you do, and set it to done with `update_issue`. Name agents, projects and issues by their names and identifiers.'

let listed: object[] | undefined

/** Describes the tools in the format of MCP. */
function listTools() {
  listed ??= TOOLS.map(({ name, description, input, readOnly }) => ({
    name,
    description,
    inputSchema: { ...toJsonSchema(input, { typeMode: 'input', errorMode: 'ignore' }), type: 'object' },
    annotations: { readOnlyHint: readOnly, openWorldHint: false },
  }))
  return listed
}

/**
 * Creates a server of the Model Context Protocol. Its tools send requests with
 * the client's credentials, so they have exactly the caller's permissions.
 */
export function createMcpServer(client: Client): Server {
  const server = new Server(
    { name: 'service', version: packageVersion() },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  )
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: listTools() as never }))
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => callTool(client, params.name, params.arguments ?? {}))
  return server
}

async function callTool(client: Client, name: string, given: unknown): Promise<CallToolResult> {
  const found = TOOLS.find((tool) => tool.name === name)
  if (!found) return failure('not_found', `There is no tool ${name}. tools/list lists them.`)
  const parsed = v.safeParse(found.input, given)
  if (!parsed.success) {
    const problems = parsed.issues.map((issue) => `${v.getDotPath(issue) ?? 'arguments'}: ${issue.message}`)
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
const failure = (code: string, error: string, details?: unknown): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: JSON.stringify({ error, code, ...(details !== undefined && { details }) }) }],
})
