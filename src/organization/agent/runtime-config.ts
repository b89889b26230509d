import * as v from 'valibot'
import { placementReference } from '../placement/placement.ts'

/** `runtimeConfig`: when and how an agent is run. */
export const RuntimeConfig = v.strictObject({
  heartbeat: v.optional(
    v.strictObject({
      enabled: v.optional(v.pipe(v.boolean(), v.description('Whether the timer wakes the agent. Default false.'))),
      intervalSec: v.optional(
        v.pipe(
          v.number(),
          v.integer(),
          v.minValue(1),
          v.maxValue(31_536_000),
          v.description('The seconds between two timer wakes. Default 3600. Values below 60 are expensive.'),
        ),
      ),
      wakeOnDemand: v.optional(
        v.pipe(
          v.boolean(),
          v.description('Whether mentions, assignments and other events wake the agent. Default true.'),
        ),
      ),
      skipIfIdle: v.optional(
        v.pipe(
          v.boolean(),
          v.description('Whether to skip a timer wake if nothing relevant to the agent has changed. Default false.'),
        ),
      ),
      maxConcurrentRuns: v.optional(
        v.pipe(
          v.number(),
          v.integer(),
          v.minValue(1),
          v.maxValue(10),
          v.description('The maximum number of concurrent runs of the agent. Default 1.'),
        ),
      ),
    }),
  ),
  placement: v.optional(
    v.pipe(
      placementReference,
      v.description(
        'Where its runs execute: the name of a placement, or `local`. Default: that of the project, else of the instance. Only the board sets it.',
      ),
    ),
  ),
})

export interface Heartbeat {
  enabled: boolean
  intervalSec: number
  wakeOnDemand: boolean
  skipIfIdle: boolean
  maxConcurrentRuns: number
}

/** Returns an agent's heartbeat settings, with defaults. */
export function heartbeatOf(agent: { runtime_config: string }): Heartbeat {
  const { heartbeat } = JSON.parse(agent.runtime_config) as v.InferOutput<typeof RuntimeConfig>
  return {
    enabled: heartbeat?.enabled ?? false,
    intervalSec: heartbeat?.intervalSec ?? 3_600,
    wakeOnDemand: heartbeat?.wakeOnDemand ?? true,
    skipIfIdle: heartbeat?.skipIfIdle ?? false,
    maxConcurrentRuns: heartbeat?.maxConcurrentRuns ?? 1,
  }
}
