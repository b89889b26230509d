import type { Context } from '../../platform/context.ts'
import type { ProbeResult } from '../remote/probe.ts'
import type { Check } from './driver.ts'

const LEAST_NODE = 22
const LEAST_BYTES = 1024 ** 3
const MOST_SKEW_MS = 60_000

/** Judges what a probe found on a machine. */
export function checksOf(ctx: Pick<Context, 'now'>, found: ProbeResult, url: string): Check[] {
  const skewMs = Math.abs(Date.parse(found.clock) - Date.parse(ctx.now))
  const free = `${(found.freeBytes / 1024 ** 3).toFixed(1)} GB`
  return [
    {
      name: 'node',
      ok: Number.parseInt(found.node, 10) >= LEAST_NODE,
      message: `${found.hostname} has Node ${found.node}; ${LEAST_NODE} or newer is needed.`,
    },
    {
      name: 'folder',
      ok: found.folderError === null,
      message: found.folderError ?? 'The folder for runs can be written.',
    },
    {
      name: 'disk',
      ok: found.folderError !== null || found.freeBytes >= LEAST_BYTES,
      message: `${free} are free; 1 GB is the least.`,
    },
    {
      name: 'api',
      ok: found.apiError === null,
      message:
        found.apiError === null ? `It reaches this API at ${url}.` : `It does not reach ${url}: ${found.apiError}`,
    },
    {
      name: 'clock',
      ok: skewMs <= MOST_SKEW_MS,
      message:
        skewMs <= MOST_SKEW_MS
          ? 'Its clock agrees with that of the server.'
          : `Its clock differs by ${Math.round(skewMs / 1_000)} seconds. Certificates and times will be wrong; use NTP.`,
    },
    {
      name: 'git',
      ok: found.git,
      message: found.git ? 'It has git.' : 'It has no git, so repositories of workspaces cannot be cloned.',
    },
  ]
}
