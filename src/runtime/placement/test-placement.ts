import type { PlacementRow } from '../../organization/placement/queries.ts'
import type { Context } from '../../platform/context.ts'
import { type Check, type Driver, PlacementFault } from './driver.ts'
import { openDriver } from './open-driver.ts'

/** Tests a placement, from the connection to the requests of the machine to this API. */
export async function testPlacement(ctx: Context, row: PlacementRow): Promise<{ ok: boolean; checks: Check[] }> {
  let driver: Driver | undefined
  let checks: Check[]
  try {
    // Uses a separate connection, so the test does not close a connection that runs use.
    driver = await openDriver(ctx, { ...row, name: `${row.name}.test`, tunnel_port: null })
    checks = await driver.test()
  } catch (error) {
    if (!(error instanceof PlacementFault)) throw error
    checks = [{ name: 'connection', ok: false, message: error.message }]
  } finally {
    await driver?.close()
  }
  return { ok: checks.every((check) => check.ok), checks }
}
