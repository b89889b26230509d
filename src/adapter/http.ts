import type * as v from 'valibot'
import type { Adapter } from './adapter.ts'
import { configOf, httpEntries } from './config.ts'
import { httpReader } from './http-reader.ts'
import type { PostJob } from './post.ts'
import { resolved } from './secrets.ts'

const HttpConfig = configOf(httpEntries)

export type HttpConfig = v.InferOutput<typeof HttpConfig>

/**
 * Posts a wake to a URL. The POST is a child process like every other run, so
 * that it is supervised, stopped and rescued in the same way. The request has
 * the variables of the run, as the environment of a program does. Their token
 * ends with the run, when the URL answers; an agent that works longer has a key
 * of its own.
 */
export const httpAdapter: Adapter<HttpConfig> = {
  type: 'http',
  summary:
    'POSTs each wake to a URL. The agent behind it works with the token of the run until it answers, or with an API key of its own.',
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

/** `SERVICE_API_KEY` as `x-service-api-key`. */
const toHeaders = (variables: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [
      `x-${name.toLowerCase().replaceAll('_', '-')}`,
      encodeHeader(value),
    ]),
  )

/** A header carries printable ASCII only: other characters, as in a path, are percent-encoded. */
const encodeHeader = (value: string) => value.replaceAll(/[^\x20-\x7e]/g, encodeURIComponent)
