import * as v from 'valibot'
import { board, operator } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import {
  addPlacement,
  changePlacement,
  getPlacement,
  removePlacement,
  showPlacement,
  showPlacements,
} from './change.ts'
import { NewPlacement, Placement, PlacementChange } from './placement.ts'

export const placementRoutes = [
  route({
    id: 'placements.list',
    method: 'GET',
    path: '/api/placements',
    summary: 'List the placements: where runs can execute besides this machine',
    who: [board],
    responses: { 200: v.array(Placement) },
    run: (ctx) => showPlacements(ctx),
  }),
  route({
    id: 'placements.get',
    method: 'GET',
    path: '/api/placements/:placement',
    summary: 'Get a placement by its name',
    who: [board],
    responses: { 200: Placement },
    run: (ctx, { params }) => showPlacement(ctx, getPlacement(ctx, params.placement)),
  }),
  route({
    id: 'placements.create',
    method: 'POST',
    path: '/api/placements',
    summary: 'Add a placement',
    description: 'Nothing is started. `POST /api/placements/:placement/test` tries it.',
    who: [operator],
    body: NewPlacement,
    responses: { 201: Placement },
    run: (ctx, { caller, body }) => ctx.write(() => addPlacement(ctx, caller, body)),
  }),
  route({
    id: 'placements.update',
    method: 'PATCH',
    path: '/api/placements/:placement',
    summary: 'Change a placement',
    description: 'Runs that have started keep the settings that they started with.',
    who: [operator],
    body: PlacementChange,
    responses: { 200: Placement },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => changePlacement(ctx, caller, getPlacement(ctx, params.placement), body)),
  }),
  route({
    id: 'placements.delete',
    method: 'DELETE',
    path: '/api/placements/:placement',
    summary: 'Remove a placement that nothing uses',
    description:
      'With `force=true` also one in use: its live runs end as lost, and agents and projects that name it wait.',
    who: [operator],
    query: v.strictObject({ force: v.optional(v.picklist(['true', 'false'])) }),
    responses: { 200: Placement },
    run: (ctx, { caller, params, query }) =>
      ctx.write(() => removePlacement(ctx, caller, getPlacement(ctx, params.placement), query.force === 'true')),
  }),
]
