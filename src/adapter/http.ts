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
 * that it is supervised, stopped and rescued in the same way. The run's token
 * is not sent: it ends with the run, and the agent has a key of its own.
 */
export const httpAdapter: Adapter<HttpConfig> = {
  type: 'http',
  summary: 'POSTs each wake to a URL. The agent behind it works on its own, with an API key of its own.',
  config: HttpConfig,
  instructionsKey: null,
  instructions: 'none',
  skipsPermissionsKey: null,
  installHint: null,
  helpArgs: null,
  metering: 'none',
  resumes: false,
  command(config, run) {
    const [command, ...args] = run.postProgram
    const job: PostJob = {
      url: config.url,
      headers: resolved(config.headers),
      body: { runId: run.runId, agentId: run.agentId, ...run.wake, prompt: run.prompt },
      timeoutSec: config.timeoutSec,
    }
    return { command, args, env: {}, stdin: JSON.stringify(job) }
  },
  reader: () => httpReader(),
}
