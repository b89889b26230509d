import { once } from 'node:events'
import { Command } from 'commander'
import { type ConnectionOptions, connect, withConnection } from '../connection/connect.ts'

export const mcpCommand = () =>
  withConnection(new Command('mcp'))
    .description('Serve the Model Context Protocol on standard input and output, for an agent program.')
    .addHelpText(
      'after',
      `
An agent program starts this command and communicates with it. The server must be running; it also serves
the same tools at /mcp. In a run, SERVICE_API_URL and SERVICE_API_KEY identify the server and the agent.

Examples:
  $ claude mcp add service -- service mcp
  $ codex mcp add service -- service mcp
  $ service mcp --url http://127.0.0.1:3100 --token $SERVICE_API_KEY`,
    )
    .action(mcp)

async function mcp(options: ConnectionOptions): Promise<void> {
  const [{ createMcpServer }, { StdioServerTransport }] = await Promise.all([
    import('../mcp/stdio-server.ts'),
    import('@modelcontextprotocol/sdk/server/stdio.js'),
  ])
  const server = createMcpServer(connect(options, process.env))
  await server.connect(new StdioServerTransport())
  await once(process.stdin, 'close')
  await server.close()
}
