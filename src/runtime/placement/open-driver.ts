import { assertReachable } from '../../organization/placement/change.ts'
import type { PlacementRow } from '../../organization/placement/queries.ts'
import { parseSettings } from '../../organization/placement/settings.ts'
import type { Context } from '../../platform/context.ts'
import { type Driver, PlacementFault } from './driver.ts'

/** Creates the driver of a placement. It loads the code of an engine on first use. */
export async function openDriver(ctx: Context, row: PlacementRow): Promise<Driver> {
  const parsed = parseSettings(row.type, JSON.parse(row.settings))
  try {
    // The server may have been restarted in another mode.
    assertReachable(ctx, parsed)
  } catch (error) {
    throw new PlacementFault((error as Error).message)
  }
  const { type, settings } = parsed
  switch (type) {
    case 'ssh':
      return (await import('./ssh.ts')).createSshDriver(ctx, row, settings)
    case 'slurm':
      return (await import('./slurm.ts')).createSlurmDriver(ctx, settings)
    case 'kubernetes':
      return (await import('./kubernetes.ts')).createKubernetesDriver(ctx, settings)
  }
}
