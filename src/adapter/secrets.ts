type Values = Record<string, string | { $secret: string }>

/** The names of the stored secrets that a parsed configuration refers to. */
export const secretNames = (config: Record<string, unknown>): string[] =>
  secretFields(config).flatMap(([, values]) =>
    Object.values(values).flatMap((value) => (typeof value === 'string' ? [] : [value.$secret])),
  )

/**
 * The configuration with each `{ "$secret": NAME }` replaced by the secret's
 * value. Throws what `secretOf` throws for a name it does not know.
 */
export const withSecrets = <Config extends Record<string, unknown>>(
  config: Config,
  secretOf: (name: string) => string,
): Config => ({
  ...config,
  ...Object.fromEntries(
    secretFields(config).map(([field, values]) => [
      field,
      Object.fromEntries(
        Object.entries(values).map(([name, value]) => [
          name,
          typeof value === 'string' ? value : secretOf(value.$secret),
        ]),
      ),
    ]),
  ),
})

/** The values as plain texts. A reference that is left is a bug of the caller, and must not reach a program as text. */
export function resolved(values: Values): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      if (typeof value !== 'string') throw new Error(`The secret ${value.$secret} of ${name} was not resolved.`)
      return [name, value]
    }),
  )
}

const secretFields = (config: Record<string, unknown>): [string, Values][] =>
  Object.entries(config).filter((entry): entry is [string, Values] => entry[0] === 'env' || entry[0] === 'headers')
