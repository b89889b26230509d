type Values = Record<string, string | { $secret: string }>
type Config = Record<string, unknown>

/** Returns the names of the stored secrets to which a parsed configuration refers, including its MCP servers. */
export const secretNames = (config: Config): string[] => [
  ...secretFields(config).flatMap(([, values]) =>
    Object.values(values).flatMap((value) => (typeof value === 'string' ? [] : [value.$secret])),
  ),
  ...mcpServersOf(config).flatMap(([, server]) => secretNames(server)),
]

/**
 * Returns the configuration with each `{ "$secret": NAME }` replaced by the
 * secret's value. Errors of `secretOf` for an unknown name pass through.
 */
export function withSecrets<Own extends Config>(config: Own, secretOf: (name: string) => string): Own {
  const fields = secretFields(config).map(([field, values]) => {
    const open = Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : secretOf(value.$secret),
    ])
    return [field, Object.fromEntries(open)]
  })
  const servers = mcpServersOf(config).map(([name, server]) => [name, withSecrets(server, secretOf)])
  return {
    ...config,
    ...Object.fromEntries(fields),
    ...(config.mcpServers ? { mcpServers: Object.fromEntries(servers) } : {}),
  }
}

/** Returns the names and values of a configuration that may be secret: those of `env` and `headers`, including MCP servers. */
export const secretCandidates = (config: Config): [name: string, value: string][] => [
  ...secretFields(config).flatMap(([, values]) => Object.entries(resolved(values))),
  ...mcpServersOf(config).flatMap(([, server]) => secretCandidates(server)),
]

/**
 * Returns the values as plain texts.
 *
 * @throws if a reference to a secret was not resolved, which is a bug of the caller
 */
export function resolved(values: Values): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      if (typeof value !== 'string') throw new Error(`The secret ${value.$secret} of ${name} was not resolved.`)
      return [name, value]
    }),
  )
}

const secretFields = (config: Config): [string, Values][] =>
  Object.entries(config).filter((entry): entry is [string, Values] => entry[0] === 'env' || entry[0] === 'headers')

const mcpServersOf = (config: Config): [string, Config][] =>
  Object.entries((config.mcpServers ?? {}) as Record<string, Config>)
