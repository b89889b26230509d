import type { AgentRow } from '../../organization/agent/agent.ts'
import { findCompany } from '../../organization/company/queries.ts'
import type { Context } from '../../platform/context.ts'

/** The name of the MCP server in the program of a run. */
const NAME = 'service'

/**
 * Adds the MCP server of this service to the configuration of an adapter that
 * takes MCP servers, if the agent, its company or the instance wants it. A
 * server of that name in the agent's own configuration stays.
 */
export function withServiceMcp<Config extends Record<string, unknown>>(
  ctx: Context,
  agent: AgentRow,
  config: Config,
  variables: Readonly<Record<string, string>>,
): Config {
  if (config.mcpServers === undefined || !isWanted(ctx, agent, config)) return config
  const server = {
    url: `${variables.SERVICE_API_URL}/mcp`,
    headers: { Authorization: `Bearer ${variables.SERVICE_API_KEY}` },
  }
  return { ...config, mcpServers: { [NAME]: server, ...config.mcpServers } }
}

function isWanted(ctx: Context, agent: AgentRow, config: Record<string, unknown>): boolean {
  if (typeof config.serviceMcp === 'boolean') return config.serviceMcp
  const ofCompany = findCompany(ctx.db, { id: agent.company_id })!.run_mcp
  return ofCompany === null ? ctx.config.runMcp : ofCompany === 1
}
