import { findPlacement, type PlacementRow } from '../../organization/placement/queries.ts'
import type { Context } from '../../platform/context.ts'
import { createSlots } from '../../platform/slots.ts'
import { type Driver, PlacementFault } from './driver.ts'
import type { Followed } from './followed-run.ts'
import { openDriver } from './open-driver.ts'

/** The maximum number of concurrent submissions to a placement. */
const MAX_SUBMISSIONS = 4

const DEFAULT_LOST_AFTER_SEC = 600

/** An open placement with the runs in it. */
export interface Place {
  name: string
  /** The `updated_at` of the placement when it was opened. */
  updatedAt: string
  driver: Driver
  lostAfterMs: number
  runs: Map<string, Followed>
  timer: NodeJS.Timeout | undefined
  isPolling: boolean
  /** Runs submissions, at most `MAX_SUBMISSIONS` at a time. */
  submission: ReturnType<typeof createSlots>
}

/** The placements that this server has opened. */
export interface Places {
  /**
   * Opens a placement, or returns the open one. It reopens a changed placement when no run is left in it.
   *
   * @throws PlacementFault if the placement does not exist or cannot be opened
   */
  open(name: string): Promise<Place>
  /** Returns the placement that a run of this server is in. */
  findOfRun(runId: string): Promise<{ place: Place; followed: Followed } | undefined>
  /** Removes a placement from the open ones and returns it. Its driver stays open. */
  remove(name: string): Promise<Place | undefined>
  close(): Promise<void>
}

export function createPlaces(ctx: Context): Places {
  const places = new Map<string, Promise<Place>>()

  async function open(name: string): Promise<Place> {
    const row = findPlacement(ctx.db, { name })
    if (!row) throw new PlacementFault(`The placement ${name} no longer exists.`)
    const known = places.get(name)
    const place = await known
    if (place && (place.updatedAt === row.updated_at || place.runs.size > 0)) return place
    if (places.get(name) !== known) return open(name)
    void place?.driver.close()
    const opening = createPlace(ctx, row)
    places.set(name, opening)
    opening.catch(() => places.delete(name))
    return opening
  }

  return {
    open,
    async findOfRun(runId) {
      for (const opening of places.values()) {
        const place = await opening.catch(() => undefined)
        const followed = place?.runs.get(runId)
        if (followed) return { place: place!, followed }
      }
      return undefined
    },
    async remove(name) {
      const place = await places.get(name)?.catch(() => undefined)
      places.delete(name)
      return place
    },
    async close() {
      for (const opening of places.values()) {
        const place = await opening.catch(() => undefined)
        clearTimeout(place?.timer)
        await place?.driver.close()
      }
    },
  }
}

async function createPlace(ctx: Context, row: PlacementRow): Promise<Place> {
  const { lostAfterSec } = JSON.parse(row.settings) as { lostAfterSec?: number }
  return {
    name: row.name,
    updatedAt: row.updated_at,
    driver: await openDriver(ctx, row),
    lostAfterMs: (lostAfterSec ?? DEFAULT_LOST_AFTER_SEC) * 1_000,
    runs: new Map(),
    timer: undefined,
    isPolling: false,
    submission: createSlots(MAX_SUBMISSIONS),
  }
}
