import * as v from 'valibot'
import { isSmallJson, JSON_TOO_LARGE } from '../platform/json-size.ts'

/** A strict object whose error for an unknown key names the keys there are. */
export const configOf = <Entries extends v.ObjectEntries>(entries: Entries) =>
  v.strictObject(entries, (issue) => {
    if (issue.expected === 'never') {
      return `${issue.received} is no key of this configuration. Its keys are: ${Object.keys(entries).join(', ')}.`
    }
    return issue.received === 'undefined' ? `${issue.expected} is missing.` : 'The configuration must be an object.'
  })

const noNul = v.check<string, string>((text) => !text.includes('\0'), 'It must not contain a NUL character.')
const text = v.pipe(v.string('It must be a text.'), noNul)
const filled = v.pipe(
  text,
  v.check((value) => value.trim() !== '', 'It must not be empty.'),
)
const described = <Schema extends v.GenericSchema>(schema: Schema, description: string) =>
  v.pipe(schema, v.description(description))

/** A switch that is on unless a configuration turns it off. */
export const defaultTrue = (description: string) =>
  v.optional(described(v.boolean('It must be true or false.'), description), true)

const seconds = (least: number, most: number) => {
  const message = `It must be a whole number of seconds from ${least} to ${most}.`
  return v.pipe(v.number(message), v.integer(message), v.minValue(least, message), v.maxValue(most, message))
}

/** A program: a name to find on the PATH, or an absolute path. Never a shell line. */
export const programName = v.pipe(
  filled,
  v.check(
    (value) => !value.includes('/') || value.startsWith('/'),
    'It must be a name on the PATH or an absolute path.',
  ),
)

/** What a stored secret may be called. */
export const SECRET_NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,99}$/

export const SecretReference = v.strictObject({ $secret: v.pipe(v.string(), v.regex(SECRET_NAME)) })
const textOrSecret = v.union([text, SecretReference], 'It must be a text or {"$secret": "NAME"}.')

/** Names whose value is code or libraries to load: they would take effect in the service's own supervisor of the run. */
const LOADERS = /^(?:NODE_OPTIONS|LD_PRELOAD|LD_AUDIT|LD_LIBRARY_PATH|DYLD_.*|BASH_ENV)$/

const envName = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "It must be a variable's name: letters, digits and underscores."),
  v.check(
    (name) => !name.startsWith('SERVICE_'),
    'Names that begin with SERVICE_ belong to the run and cannot be set.',
  ),
  v.check(
    (name) => !LOADERS.test(name),
    'This variable makes programs load code. Set it in a script that starts the agent.',
  ),
)

/** Environment variables: names to a text or to a stored secret. */
export const Env = v.pipe(
  v.record(envName, textOrSecret, 'It must be an object of names and values.'),
  v.maxEntries(200, 'It must have at most 200 variables.'),
  v.check((value) => isSmallJson(value), JSON_TOO_LARGE),
)

export const ARGUMENTS = v.array(text, 'It must be a list of texts, one for each argument.')

const headerName = v.pipe(v.string(), v.regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, "It must be a header's name."))
const headerValue = v.pipe(text, v.regex(/^[^\r\n]*$/, 'It must be one line.'))

/** HTTP headers: names to one line of text or to a stored secret. */
export const Headers = v.pipe(
  v.record(headerName, v.union([headerValue, SecretReference], 'It must be one line of text or {"$secret": "NAME"}.')),
  v.maxEntries(100, 'It must have at most 100 headers.'),
)

export const serverUrl = v.pipe(
  filled,
  v.check(isPlainUrl, 'It must be an http or https URL without a user name and password: use headers for these.'),
)

/** What isolates the program of a run from the machine. */
export const SANDBOX_MODES = ['off', 'bubblewrap'] as const
export type SandboxMode = (typeof SANDBOX_MODES)[number]

/** The key of the adapters whose program can use the MCP server of this service. */
export const serviceMcp = v.optional(
  v.pipe(
    v.boolean(),
    v.description(
      'Whether its runs get the MCP server of this service, under the name `service`, with the token of the run. Default: the setting `runMcp` of the company, else of the instance.',
    ),
  ),
)

/** The keys of every adapter that starts a local program. */
export const processEntries = {
  sandbox: v.optional(
    described(
      v.picklist(SANDBOX_MODES, `It must be one of ${SANDBOX_MODES.join(', ')}.`),
      "bubblewrap (Linux): the program sees the system read-only, its working directory, its own folder, its skills and its own sign-in, but nothing else of your home and nothing of the server's data. off: it runs as you. Default: the setting of the instance (`service start --sandbox`). An agent cannot turn it off for itself or for a hire; the board must approve that.",
    ),
  ),
  cwd: v.optional(
    described(
      v.pipe(
        filled,
        v.check((path) => path.startsWith('/'), 'It must be an absolute path.'),
      ),
      "Working directory, an absolute path. Default: the workspace of the issue's project, else the agent's own folder.",
    ),
  ),
  env: v.optional(
    described(
      Env,
      'Environment variables for the program, beside PATH, HOME and the like and the SERVICE_ variables of the run: NAME to a text, or to {"$secret": "NAME"} for a stored secret. Names that begin with SERVICE_ and names that load code (NODE_OPTIONS, LD_PRELOAD, ...) are refused.',
    ),
    {},
  ),
  timeoutSec: v.optional(
    described(seconds(1, 86_400), 'Longest time that a run may take, in seconds, 1 to 86400.'),
    3600,
  ),
  graceSec: v.optional(
    described(
      seconds(0, 300),
      'How long a run that is told to stop may take to do so before it is killed, in seconds, 0 to 300.',
    ),
    10,
  ),
  silenceSec: v.optional(
    described(seconds(0, 86_400), 'A run that prints nothing for so many seconds is stopped; 0 for no such limit.'),
    1800,
  ),
}

/** The keys that both local agent programs share. `managed` are the options that the service sets itself. */
export const localEntries = <const Name extends string>(defaultCommand: Name, managed: readonly string[]) => ({
  ...processEntries,
  command: v.optional(
    described(programName, `The program to run: a name on the PATH or an absolute path. Default: ${defaultCommand}.`),
    defaultCommand as string,
  ),
  model: v.optional(
    described(
      v.pipe(filled, v.regex(/^[^-\s][^\s]*$/, "It must be a model's name: no spaces, no leading dash.")),
      "The model, by the program's own name for it. Default: the program's own choice. Name one for runtimeB_local: it tells no costs, so they are estimated by the model's name, and without one no budget stops it.",
    ),
  ),
  instructionsFilePath: v.optional(
    described(filled, "The agent's instructions, a markdown file. An absolute path, or one relative to cwd."),
  ),
  promptTemplate: v.optional(
    described(
      text,
      'The opening of the prompt, instead of the built-in one. {{agent.name}}, {{agent.id}}, {{agent.role}}, {{agent.title}}, {{company.name}}, {{company.id}}, {{run.id}}, {{wake.reasons}}, {{issue.identifier}}, {{issue.title}} are replaced. The heartbeat procedure and the reason of the wake follow it.',
    ),
  ),
  extraArgs: v.optional(
    described(
      v.pipe(
        ARGUMENTS,
        v.check(
          (args) => !args.some((arg) => managed.includes(arg.split('=')[0]!)),
          `The service sets these itself: ${managed.join(', ')}.`,
        ),
      ),
      'More command-line arguments for the program, each a text of its own; no shell reads them.',
    ),
    [],
  ),
  maxTurns: v.optional(
    described(
      v.pipe(v.number(), v.integer('It must be a whole number.'), v.minValue(1), v.maxValue(10_000)),
      'Longest run, in turns of the model. Only runtimeA_local has such a limit; runtimeB_local takes the key and goes by timeoutSec.',
    ),
  ),
})

/** `process`: the program is required and its arguments are its own. */
export const programEntries = {
  command: described(programName, 'The program to run: a name on the PATH or an absolute path. No shell reads it.'),
  args: v.optional(described(ARGUMENTS, 'Its arguments, each a text of its own.'), []),
  ...processEntries,
}

export const httpEntries = {
  url: described(
    serverUrl,
    'The URL that each wake is POSTed to. A 2xx accepts it; a redirect is not followed. The agent works with the token of the run until it answers, or with a key of its own.',
  ),
  headers: v.optional(
    described(Headers, 'More headers, such as authorization: a text or {"$secret": "NAME"} each.'),
    {},
  ),
  credentials: v.optional(
    described(
      v.picklist(['body', 'header', 'none'], 'It must be body, header or none.'),
      'Where the request has the variables SERVICE_* of the run, with its token: in `env` of the body, in headers (X-Service-Api-Key, X-Service-Api-Url, X-Service-Run-Id, ...), or nowhere, for an agent with a key of its own. The token works until the URL has answered.',
    ),
    'body',
  ),
  timeoutSec: v.optional(
    described(seconds(1, 3600), 'How long the URL may take to answer, in seconds, 1 to 3600.'),
    30,
  ),
}

function isPlainUrl(value: string): boolean {
  const url = URL.parse(value)
  return url !== null && /^https?:$/.test(url.protocol) && !url.username && !url.password
}

/** Seconds. A silence of 0 is no limit. */
export interface RunLimits {
  timeoutSec: number
  graceSec: number
  silenceSec: number
}

/** The limits that a parsed configuration sets; an adapter without one of the keys (`http`) has a mild one of its own. */
export function limitsOf(config: Record<string, unknown>): RunLimits {
  const seconds = (key: string, otherwise: number) => (typeof config[key] === 'number' ? config[key] : otherwise)
  return {
    // The program's own time limit comes first, so that it can say what happened.
    timeoutSec: 'url' in config ? seconds('timeoutSec', 30) + 5 : seconds('timeoutSec', 3600),
    graceSec: seconds('graceSec', 10),
    silenceSec: seconds('silenceSec', 0),
  }
}
