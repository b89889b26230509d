import * as v from 'valibot'
import { isSmallJson, JSON_TOO_LARGE } from '../platform/json-size.ts'

/** Creates a strict object schema. Its error for an unknown key lists the known keys. */
export const configOf = <Entries extends v.ObjectEntries>(entries: Entries) =>
  v.strictObject(entries, (issue) => {
    if (issue.expected === 'never') {
      return `${issue.received} is not a key of this configuration. The keys are: ${Object.keys(entries).join(', ')}.`
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

/** A boolean that is true by default. */
export const defaultTrue = (description: string) =>
  v.optional(described(v.boolean('It must be true or false.'), description), true)

const seconds = (least: number, most: number) => {
  const message = `It must be a whole number of seconds from ${least} to ${most}.`
  return v.pipe(v.number(message), v.integer(message), v.minValue(least, message), v.maxValue(most, message))
}

/** A program: a name to find on the PATH, or an absolute path. No shell interprets it. */
export const programName = v.pipe(
  filled,
  v.check(
    (value) => !value.includes('/') || value.startsWith('/'),
    'It must be a name on the PATH or an absolute path.',
  ),
)

/** The format of the names of stored secrets. */
export const SECRET_NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,99}$/

export const SecretReference = v.strictObject({ $secret: v.pipe(v.string(), v.regex(SECRET_NAME)) })
const textOrSecret = v.union([text, SecretReference], 'It must be a text or {"$secret": "NAME"}.')

/** Variables that make a process load code. They would also take effect in the shim that supervises the run. */
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

/** Environment variables: names mapped to a text or to a stored secret. */
export const Env = v.pipe(
  v.record(envName, textOrSecret, 'It must be an object of names and values.'),
  v.maxEntries(200, 'It must have at most 200 variables.'),
  v.check((value) => isSmallJson(value), JSON_TOO_LARGE),
)

export const ARGUMENTS = v.array(text, 'It must be a list of texts, one for each argument.')

const headerName = v.pipe(v.string(), v.regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, "It must be a header's name."))
const headerValue = v.pipe(text, v.regex(/^[^\r\n]*$/, 'It must be one line.'))

/** HTTP headers: names mapped to one line of text or to a stored secret. */
export const Headers = v.pipe(
  v.record(headerName, v.union([headerValue, SecretReference], 'It must be one line of text or {"$secret": "NAME"}.')),
  v.maxEntries(100, 'It must have at most 100 headers.'),
)

export const serverUrl = v.pipe(
  filled,
  v.check(isPlainUrl, 'It must be an http or https URL without a user name and password: use headers for these.'),
)

/** The modes of isolation of a run's program from the machine. */
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
      "bubblewrap (Linux): the program can access its working directory, its own folder, its skills and its sign-in, and can read the system. It cannot access the rest of your home or the data of the server. off: the program runs with your permissions. Default: the setting of the instance (`service start --sandbox`). An agent cannot turn the sandbox off for itself or for a hire without the board's approval.",
    ),
  ),
  cwd: v.optional(
    described(
      v.pipe(
        filled,
        v.check((path) => path.startsWith('/'), 'It must be an absolute path.'),
      ),
      "The working directory, an absolute path. Default: the workspace of the issue's project, or the agent's own folder if there is none.",
    ),
  ),
  env: v.optional(
    described(
      Env,
      'Environment variables of the program, in addition to basic ones such as PATH and HOME and to the SERVICE_ variables of the run. Each name maps to a text, or to {"$secret": "NAME"} for a stored secret. Names that begin with SERVICE_ and variables that load code (NODE_OPTIONS, LD_PRELOAD, ...) are refused.',
    ),
    {},
  ),
  timeoutSec: v.optional(described(seconds(1, 86_400), 'The time limit of a run, in seconds, 1 to 86400.'), 3600),
  graceSec: v.optional(
    described(
      seconds(0, 300),
      'The time between the request to stop a run (SIGTERM) and the kill (SIGKILL), in seconds, 0 to 300.',
    ),
    10,
  ),
  silenceSec: v.optional(
    described(
      seconds(0, 86_400),
      'The longest time without output, in seconds, 0 to 86400. The server stops a run that prints nothing for longer. 0 means no limit.',
    ),
    1800,
  ),
}

/**
 * The keys that all local agent programs share.
 *
 * @param managed the options that the service sets itself, which `extraArgs` must not contain
 */
export const localEntries = <const Name extends string>(defaultCommand: Name, managed: readonly string[]) => ({
  ...processEntries,
  command: v.optional(
    described(programName, `The program to run: a name on the PATH or an absolute path. Default: ${defaultCommand}.`),
    defaultCommand as string,
  ),
  model: v.optional(
    described(
      v.pipe(filled, v.regex(/^[^-\s][^\s]*$/, "It must be a model's name: no spaces, no leading dash.")),
      "The name of the model, as the program expects it. Default: the program's own choice. Set it for Codex (runtimeB_local): that program reports no costs, and the service estimates them from the model. Without a known model, no budget can stop the agent.",
    ),
  ),
  instructionsFilePath: v.optional(
    described(filled, "The markdown file with the agent's instructions: an absolute path, or a path relative to cwd."),
  ),
  promptTemplate: v.optional(
    described(
      text,
      'The beginning of the prompt, instead of the built-in one. These placeholders are replaced: {{agent.name}}, {{agent.id}}, {{agent.role}}, {{agent.title}}, {{company.name}}, {{company.id}}, {{run.id}}, {{wake.reasons}}, {{issue.identifier}}, {{issue.title}}. The heartbeat procedure and the reasons of the wake follow.',
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
      'Additional command-line arguments of the program, as a list. No shell interprets them.',
    ),
    [],
  ),
  maxTurns: v.optional(
    described(
      v.pipe(v.number(), v.integer('It must be a whole number.'), v.minValue(1), v.maxValue(10_000)),
      'The limit of turns of the model in one run. Only runtimeA_local has such a limit. runtimeB_local accepts the key and ignores it; use timeoutSec.',
    ),
  ),
})

/** The keys of the adapter `process`, which requires a program. */
export const programEntries = {
  command: described(
    programName,
    'The program to run: a name on the PATH or an absolute path. No shell interprets it.',
  ),
  args: v.optional(described(ARGUMENTS, 'The arguments of the program, as a list.'), []),
  ...processEntries,
}

/** The keys of the adapter `http`. */
export const httpEntries = {
  url: described(
    serverUrl,
    'The URL to which the service POSTs each wake. A 2xx status means success. The service does not follow redirects. The agent can use the token of the run until it has sent its response, or its own API key.',
  ),
  headers: v.optional(
    described(
      Headers,
      'Additional headers, such as authorization. Each name maps to a text or to {"$secret": "NAME"}.',
    ),
    {},
  ),
  credentials: v.optional(
    described(
      v.picklist(['body', 'header', 'none'], 'It must be body, header or none.'),
      'Where the request contains the variables SERVICE_* of the run, including its token: in `env` of the body, in headers (X-Service-Api-Key, X-Service-Api-Url, X-Service-Run-Id, ...), or nowhere, for an agent with its own API key. The token is valid until the response has arrived.',
    ),
    'body',
  ),
  timeoutSec: v.optional(
    described(seconds(1, 3600), 'The time limit for the response of the URL, in seconds, 1 to 3600.'),
    30,
  ),
}

function isPlainUrl(value: string): boolean {
  const url = URL.parse(value)
  return url !== null && /^https?:$/.test(url.protocol) && !url.username && !url.password
}

/** The time limits of a run, in seconds. A `silenceSec` of 0 means no limit. */
export interface RunLimits {
  timeoutSec: number
  graceSec: number
  silenceSec: number
}

/** Returns the time limits of a parsed configuration, with defaults for adapters without one of the keys (`http`). */
export function limitsOf(config: Record<string, unknown>): RunLimits {
  const seconds = (key: string, otherwise: number) => (typeof config[key] === 'number' ? config[key] : otherwise)
  return {
    // `post.ts` enforces the time limit of a URL itself and reports it. The run's limit is later.
    timeoutSec: 'url' in config ? seconds('timeoutSec', 30) + 5 : seconds('timeoutSec', 3600),
    graceSec: seconds('graceSec', 10),
    silenceSec: seconds('silenceSec', 0),
  }
}
