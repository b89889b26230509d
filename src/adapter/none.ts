import type * as v from 'valibot'
import type { Adapter } from './adapter.ts'
import { configOf } from './config.ts'
import { silentReader } from './readers.ts'

const NoConfig = configOf({})

/**
 * The adapter of an agent that works outside this server: it uses an API key,
 * reads its inbox at any time, and is never woken (see `requestWake`).
 */
export const noAdapter: Adapter<v.InferOutput<typeof NoConfig>> = {
  type: 'none',
  summary: 'Starts no program: the agent works outside this server with its own API key, and reads its inbox.',
  config: NoConfig,
  instructionsKey: null,
  instructions: 'none',
  skipsPermissionsKey: null,
  installHint: null,
  helpArgs: null,
  metering: 'none',
  startsProgram: false,
  resumes: false,
  command() {
    throw new Error('The adapter none starts no program.')
  },
  reader: () => silentReader,
}
