import type { Context } from '../../platform/context.ts'
import type { ProbeResult } from '../remote/probe.ts'
import type { Check } from './driver.ts'

const MIN_NODE_VERSION = 22
const MIN_FREE_BYTES = 1024 ** 3
const MAX_CLOCK_SKEW_MS = 60_000

/** Converts the result of a probe to the checks of `service placement test`. */
export function checksOf(ctx: Pick<Context, 'now'>, found: ProbeResult, url: string): Check[] {
  const skewMs = Math.abs(Date.parse(found.clock) - Date.parse(ctx.now))
  const free = `${(found.freeBytes / 1024 ** 3).toFixed(1)} GB`
  return [
    {
      name: 'node',
      ok: Number.parseInt(found.node, 10) >= MIN_NODE_VERSION,
      message: `${found.hostname} has Node ${found.node}. It needs ${MIN_NODE_VERSION} or newer.`,
    },
    {
      name: 'folder',
      ok: found.folderError === null,
      message: found.folderError ?? 'The folder for runs is writable.',
    },
    {
      name: 'disk',
      ok: found.folderError !== null || found.freeBytes >= MIN_FREE_BYTES,
      message: `${free} of disk space are free. At least 1 GB is required.`,
    },
    {
      name: 'api',
      ok: found.apiError === null,
      message:
        found.apiError === null
          ? `The machine can reach this API at ${url}.`
          : `The machine cannot reach ${url}: ${found.apiError}`,
    },
    {
      name: 'clock',
      ok: skewMs <= MAX_CLOCK_SKEW_MS,
      message:
        skewMs <= MAX_CLOCK_SKEW_MS
          ? 'The clocks of the machine and the server agree.'
          : `The clocks of the machine and the server differ by ${Math.round(skewMs / 1_000)} seconds. Synchronize them with NTP.`,
    },
    {
      name: 'git',
      ok: found.git,
      message: found.git
        ? 'git is installed.'
        : 'git is not installed, so repositories of workspaces cannot be cloned.',
    },
  ]
}
