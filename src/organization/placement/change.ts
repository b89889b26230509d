import type { Caller } from '../../access/caller/caller.ts'
import { mergePatch } from '../../access/redaction/redact.ts'
import { isLoopback } from '../../platform/config.ts'
import type { Context } from '../../platform/context.ts'
import { AppError, notFound } from '../../platform/errors.ts'
import { recordForAll } from '../instance/record.ts'
import { type NewPlacement, type Placement, type PlacementChange, toPlacement } from './placement.ts'
import {
  clearDefault,
  countPlacementUses,
  deletePlacement,
  findPlacement,
  insertPlacement,
  listPlacements,
  type PlacementRow,
  updatePlacement,
} from './queries.ts'
import { forgetPlacements } from './resolve.ts'
import { parseSettings, type TypedSettings } from './settings.ts'

/** Returns a placement by its name. Placements belong to the instance, not to a company. */
export function getPlacement(ctx: Context, name: string): PlacementRow {
  const placement = findPlacement(ctx.db, { name })
  if (!placement) throw notFound('placement', name)
  return placement
}

export const showPlacement = (ctx: Context, row: PlacementRow): Placement =>
  toPlacement(row, countPlacementUses(ctx.db, row.name))

export const showPlacements = (ctx: Context): Placement[] =>
  listPlacements(ctx.db).map((row) => showPlacement(ctx, row))

export function addPlacement(ctx: Context, caller: Caller, want: NewPlacement): Placement {
  if (findPlacement(ctx.db, { name: want.name })) {
    throw new AppError('conflict', `There is a placement ${want.name} already. Choose another name, or change it.`)
  }
  const parsed = parseSettings(want.type, want.settings)
  assertReachable(ctx, parsed)
  if (want.isDefault) clearDefault(ctx.db)
  const row = insertPlacement(ctx.db, {
    name: want.name,
    type: want.type,
    settings: JSON.stringify(parsed.settings),
    max_runs: want.maxRuns ?? DEFAULT_MAX_RUNS,
    is_default: want.isDefault ? 1 : 0,
    created_at: ctx.now,
    updated_at: ctx.now,
  })
  forgetPlacements(ctx)
  recordForAll(ctx, caller, 'placement.added', { name: row.name, type: row.type })
  ctx.afterCommit(() => ctx.signals.wakeQueued())
  return showPlacement(ctx, row)
}

const DEFAULT_MAX_RUNS = 100

/** Changes a placement. The new settings do not apply to runs that have started. */
export function changePlacement(ctx: Context, caller: Caller, row: PlacementRow, want: PlacementChange): Placement {
  const before = JSON.parse(row.settings)
  const { settings } = parseSettings(row.type, want.settings ? mergePatch(before, want.settings) : before)
  if (want.isDefault && row.is_default === 0) clearDefault(ctx.db)
  const changed = updatePlacement(ctx.db, row.name, {
    settings: JSON.stringify(settings),
    max_runs: want.maxRuns ?? row.max_runs,
    is_default: want.isDefault === undefined ? row.is_default : want.isDefault ? 1 : 0,
    updated_at: ctx.now,
  })
  recordForAll(ctx, caller, 'placement.updated', { name: row.name, changed: Object.keys(want) })
  ctx.afterCommit(() => ctx.signals.wakeQueued())
  return showPlacement(ctx, changed)
}

/**
 * Removes an unused placement. `force` removes a placement that is in use: its
 * live runs end as lost, and the runs of agents and projects that name it wait.
 */
export function removePlacement(ctx: Context, caller: Caller, row: PlacementRow, force: boolean): Placement {
  const uses = countPlacementUses(ctx.db, row.name)
  const used = Object.entries(uses).filter(([, count]) => count > 0)
  if (used.length > 0 && !force) {
    const what = used.map(([kind, count]) => `${count} ${nounOf(kind as keyof typeof uses, count)}`).join(', ')
    throw new AppError(
      'conflict',
      `The placement ${row.name} is in use (${what}). Wait for its runs, name another placement, or use force.`,
      uses,
    )
  }
  const displayed = toPlacement(row, uses)
  deletePlacement(ctx.db, row.name)
  forgetPlacements(ctx)
  recordForAll(ctx, caller, 'placement.removed', { name: row.name })
  ctx.afterCommit(() => ctx.signals.placementChanged(row.name))
  return displayed
}

const nounOf = (kind: 'liveRuns' | 'agents' | 'projects', count: number) => {
  const plural = kind === 'liveRuns' ? 'live runs' : kind
  return count === 1 ? plural.slice(0, -1) : plural
}

/** Refuses a placement if its machines cannot reach the API in the mode of this server. */
export function assertReachable(ctx: Pick<Context, 'config'>, { type, settings }: TypedSettings): void {
  if (type === 'ssh' || ctx.config.mode === 'authenticated') return
  // A cluster on this machine.
  if (isLoopback(new URL(settings.publicUrl!).hostname)) return
  throw new AppError(
    'semantic',
    `In local trusted mode this API listens on loopback only, so a ${type} placement cannot reach it. Start the server with --mode authenticated, or use an ssh placement.`,
  )
}
