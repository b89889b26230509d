import type * as v from 'valibot'
import type { Adapter } from './adapter.ts'
import { configOf } from './config.ts'
import { silentReader } from './readers.ts'

const NoConfig = configOf({})

/**
 * Of an agent that works somewhere else, by itself: it has a key, reads its
 * inbox when it likes, and is never woken (see requestWake), so there is
 * nothing to start.
 */
export const noAdapter: Adapter<v.InferOutput<typeof NoConfig>> = {
  type: 'none',
  summary: 'Starts nothing: the agent works elsewhere by itself, with an API key of its own, and reads its inbox.',
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
    throw new Error('This agent works elsewhere: its adapter (none) starts nothing.')
  },
  reader: () => silentReader,
}
