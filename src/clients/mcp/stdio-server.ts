import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import type { Client } from '../client/client.ts'
import { callTool, INSTRUCTIONS, listTools, serverInfo } from './call-tool.ts'

/**
 * Creates a server of the Model Context Protocol for a process of its own. Its
 * tools send requests with the client's credentials, so they have exactly the
 * caller's permissions.
 */
export function createMcpServer(client: Client): Server {
  const server = new Server(serverInfo(), { capabilities: { tools: {} }, instructions: INSTRUCTIONS })
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: listTools() as never }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => ({
    ...(await callTool(client, params.name, params.arguments ?? {})),
  }))
  return server
}
