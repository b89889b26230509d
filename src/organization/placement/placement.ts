import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import type { PlacementRow } from './queries.ts'
import { LOCAL } from './resolve.ts'
import { PLACEMENT_TYPES } from './settings.ts'

/** The name of a placement: it becomes a part of file names. */
export const placementName = v.pipe(
  v.string(),
  v.regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'must be lower-case letters, digits and dashes, at most 40'),
)

/** A reference to a placement in a request. */
export const placementReference = v.pipe(
  placementName,
  v.description('The name of a placement, or `local` for the machine of the server.'),
)

/** A placement as the API returns it. */
export const Placement = v.strictObject({
  name: v.string(),
  type: v.pipe(v.picklist(PLACEMENT_TYPES), v.description('The engine that executes the runs.')),
  settings: v.pipe(field.jsonObject, v.description('The settings of its type.')),
  maxRuns: v.pipe(field.integer, v.description('The maximum number of live runs in it.')),
  isDefault: v.pipe(v.boolean(), v.description('Whether runs execute in it that name no placement.')),
  liveRuns: v.pipe(field.integer, v.description('Runs in it that have not ended.')),
  createdAt: field.timestamp,
  updatedAt: field.timestamp,
})
export type Placement = v.InferOutput<typeof Placement>

const maxRuns = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10_000))

const FIELDS = {
  settings: v.pipe(field.jsonObject, v.description('The settings of its type; see the guide to placements.')),
  maxRuns: v.optional(v.pipe(maxRuns, v.description('The maximum number of live runs in it. Default 100.'))),
  isDefault: v.optional(v.pipe(v.boolean(), v.description('Whether runs execute in it that name no placement.'))),
}

export const NewPlacement = v.strictObject({
  name: v.pipe(
    placementName,
    v.check((name) => name !== LOCAL, '`local` is the machine of the server'),
    v.examples(['gpu']),
  ),
  type: v.pipe(v.picklist(PLACEMENT_TYPES), v.examples(['ssh'])),
  ...FIELDS,
})
export type NewPlacement = v.InferOutput<typeof NewPlacement>

export const PlacementChange = v.strictObject({
  ...FIELDS,
  settings: v.optional(
    v.pipe(field.jsonObject, v.description('The settings to change; null removes one. The others are kept.')),
  ),
})
export type PlacementChange = v.InferOutput<typeof PlacementChange>

export const toPlacement = (row: PlacementRow, uses: { liveRuns: number }): Placement => ({
  name: row.name,
  type: row.type,
  settings: JSON.parse(row.settings),
  maxRuns: row.max_runs,
  isDefault: row.is_default === 1,
  liveRuns: uses.liveRuns,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})
