import type * as v from 'valibot'
import type { Adapter } from './adapter.ts'
import { configOf, httpEntries } from './config.ts'
import { httpReader } from './http-reader.ts'
import type { PostJob } from './post.ts'
import { resolved } from './secrets.ts'

const HttpConfig = configOf(httpEntries)

export type HttpConfig = v.InferOutput<typeof HttpConfig>

/**
 * Posts a wake to a URL. A child process sends the request, so the run is
 * supervised, stopped and rescued like any other. The request contains the
 * variables of the run, as the environment of a program does. Their token is
 * valid until the response; an agent that works longer needs its own API key.
 */
export const httpAdapter: Adapter<HttpConfig> = {
  type: 'http',
  summary:
    'POSTs each wake to a URL. The agent can use the token of the run until it has sent its response, or its own API key.',
  config: HttpConfig,
  instructionsKey: null,
  instructions: 'none',
  skipsPermissionsKey: null,
  installHint: null,
  helpArgs: null,
  metering: 'none',
  startsProgram: false,
  resumes: false,
  command(config, run) {
    const [command, ...args] = run.postProgram
    const job: PostJob = {
      url: config.url,
      headers: { ...(config.credentials === 'header' && toHeaders(run.variables)), ...resolved(config.headers) },
      body: {
        runId: run.runId,
        agentId: run.agentId,
        ...run.wake,
        prompt: run.prompt,
        ...(config.credentials === 'body' && { env: run.variables }),
      },
      timeoutSec: config.timeoutSec,
    }
    return { command, args, env: {}, stdin: JSON.stringify(job) }
  },
  reader: () => httpReader(),
}

/** Converts variables to headers: `SERVICE_API_KEY` becomes `x-service-api-key`. */
const toHeaders = (variables: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [
      `x-${name.toLowerCase().replaceAll('_', '-')}`,
      encodeHeader(value),
    ]),
  )

/** Percent-encodes the characters that a header cannot contain: all except printable ASCII. */
const encodeHeader = (value: string) => value.replaceAll(/[^\x20-\x7e]/g, encodeURIComponent)
