import * as v from 'valibot'
import { ARGUMENTS, Env, Headers, programName, serverUrl } from './config.ts'
import { resolved } from './secrets.ts'

const McpServer = v.union(
  [
    v.strictObject({ command: programName, args: v.optional(ARGUMENTS, []), env: v.optional(Env, {}) }),
    v.strictObject({ url: serverUrl, headers: v.optional(Headers, {}) }),
  ],
  'It must be { command, args?, env? } or { url, headers? }.',
)

const serverName = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9_-]{1,64}$/, "It must be a server's name: letters, digits, dashes and underscores."),
)

/** The key `mcpServers` of an adapter's configuration: the MCP servers that the program starts or connects to. */
export const McpServers = v.record(serverName, McpServer, 'It must be an object of names and MCP servers.')
export type McpServers = v.InferOutput<typeof McpServers>

/** MCP servers whose environment and headers contain names of variables instead of values. */
interface NamedServers {
  /** The variables of the run that hold the values. */
  variables: Record<string, string>
  servers: [name: string, server: McpServers[string], variableOf: Record<string, string>][]
}

/** Replaces the values by variables: other users of the machine can read command lines, but not environments. */
function nameValues(servers: McpServers): NamedServers {
  const variables: Record<string, string> = {}
  const named = Object.entries(servers).map(([name, server]): NamedServers['servers'][number] => {
    const values = Object.entries(resolved('url' in server ? server.headers : server.env))
    const variableOf = values.map(([key, value]) => {
      const variable = `SERVICE_MCP_${Object.keys(variables).length + 1}`
      variables[variable] = value
      return [key, variable]
    })
    return [name, server, Object.fromEntries(variableOf)]
  })
  return { variables, servers: named }
}

/** The arguments and variables with which a program uses MCP servers. */
export interface McpArguments {
  args: string[]
  env: Record<string, string>
}

/** Returns the MCP configuration for `claude`, which expands `${NAME}` in a configuration. */
export function mcpArgumentsOfClaude(servers: McpServers): McpArguments {
  const { variables, servers: named } = nameValues(servers)
  if (named.length === 0) return { args: [], env: {} }
  const mcpServers = named.map(([name, server, variableOf]) => {
    const values = Object.fromEntries(Object.entries(variableOf).map(([key, variable]) => [key, `\${${variable}}`]))
    return [
      name,
      'url' in server
        ? { type: 'http', url: server.url, headers: values }
        : { type: 'stdio', command: server.command, args: server.args, env: values },
    ]
  })
  // One argument with `=`: otherwise the option would also consume the arguments that follow.
  return { args: [`--mcp-config=${JSON.stringify({ mcpServers: Object.fromEntries(mcpServers) })}`], env: variables }
}

/**
 * Returns the MCP configuration for `codex`, which passes variables to a server
 * only under their own names. A shell renames them for the server.
 */
export function mcpArgumentsOfCodex(servers: McpServers): McpArguments {
  const { variables, servers: named } = nameValues(servers)
  const args = named.flatMap(([name, server, variableOf]) => {
    if ('url' in server) {
      const headers = Object.keys(variableOf).length > 0 && `env_http_headers=${toToml(variableOf)}`
      return setting(name, [`url=${JSON.stringify(server.url)}`, headers])
    }
    const assignments = Object.entries(variableOf).map(([key, variable]) => `${key}="$${variable}"`)
    const [command, ...rest] =
      assignments.length === 0
        ? [server.command, ...server.args]
        : ['/bin/sh', '-c', `${assignments.join(' ')} exec "$@"`, 'sh', server.command, ...server.args]
    const passed = assignments.length > 0 && `env_vars=${JSON.stringify(Object.values(variableOf))}`
    return setting(name, [`command=${JSON.stringify(command)}`, `args=${JSON.stringify(rest)}`, passed])
  })
  return { args, env: variables }
}

const setting = (name: string, fields: (string | false)[]) => [
  '-c',
  `mcp_servers.${name}={${fields.filter(Boolean).join(',')}}`,
]

/** Formats an inline table of TOML. A JSON string is also a valid TOML string. */
const toToml = (table: Record<string, string>) =>
  `{${Object.entries(table)
    .map(([key, value]) => `${JSON.stringify(key)}=${JSON.stringify(value)}`)
    .join(',')}}`
