import * as v from 'valibot'
import { agent, board, ceo } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import { LIST_QUERY, readPage } from '../../http/list.ts'
import { alias } from '../../http/route.ts'
import { manager } from '../../organization/agent/who.ts'
import type { Context } from '../../platform/context.ts'
import { createRoutine, deleteRoutine, getOwnRoutine, getRoutine, switchRoutine, updateRoutine } from './change.ts'
import { runRoutine } from './fire.ts'
import { findLabelIds, selectRoutineRuns, selectRoutines } from './queries.ts'
import { NewRoutine, Routine, RoutineChange, type RoutineRow, RoutineRun, toRoutine, toRoutineRun } from './routine.ts'

const show = (ctx: Context, row: RoutineRow) => toRoutine(row, findLabelIds(ctx.db, [row.id])(row.id))

const history = route({
  id: 'routines.history',
  method: 'GET',
  path: '/api/routines/:routineId/history',
  summary: 'List the scheduled times of a routine and their outcomes, newest first',
  who: [board, agent],
  query: v.object(LIST_QUERY),
  responses: { 200: v.array(RoutineRun) },
  run: (ctx, { caller, params, query }) => {
    const { id: routineId } = getRoutine(ctx, caller, params.routineId)
    return readPage(ctx.db, selectRoutineRuns({ routineId }), query, { by: 'id', direction: 'desc' }).map(toRoutineRun)
  },
})

export const routineRoutes = [
  route({
    id: 'routines.list',
    method: 'GET',
    path: '/api/companies/:companyId/routines',
    summary: "List a company's routines, oldest first",
    who: [board, agent],
    query: v.object(LIST_QUERY),
    responses: { 200: v.array(Routine) },
    run: (ctx, { params: { companyId }, query }) => {
      const page = readPage(ctx.db, selectRoutines({ companyId }), query, { by: 'id' })
      const labelIdsOf = findLabelIds(
        ctx.db,
        page.items.map((row) => row.id),
      )
      return page.map((row) => toRoutine(row, labelIdsOf(row.id)))
    },
  }),
  route({
    id: 'routines.create',
    method: 'POST',
    path: '/api/companies/:companyId/routines',
    summary: 'Create a routine, which creates issues on a schedule',
    who: [board, ceo, manager],
    body: NewRoutine,
    responses: { 201: Routine },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => show(ctx, createRoutine(ctx, caller, params.companyId, body))),
  }),
  route({
    id: 'routines.get',
    method: 'GET',
    path: '/api/routines/:routineId',
    summary: 'Get a routine',
    who: [board, agent],
    responses: { 200: Routine },
    run: (ctx, { caller, params }) => show(ctx, getRoutine(ctx, caller, params.routineId)),
  }),
  route({
    id: 'routines.update',
    method: 'PATCH',
    path: '/api/routines/:routineId',
    summary: 'Change a routine',
    who: [board, ceo, manager],
    body: RoutineChange,
    responses: { 200: Routine },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => show(ctx, updateRoutine(ctx, caller, params.routineId, body))),
  }),
  route({
    id: 'routines.delete',
    method: 'DELETE',
    path: '/api/routines/:routineId',
    summary: 'Delete a routine with its history. Its issues remain',
    who: [board, ceo, manager],
    responses: { 200: Routine },
    run: (ctx, { caller, params }) =>
      ctx.write(() => {
        const displayed = show(ctx, getRoutine(ctx, caller, params.routineId))
        deleteRoutine(ctx, caller, params.routineId)
        return displayed
      }),
  }),
  route({
    id: 'routines.run',
    method: 'POST',
    path: '/api/routines/:routineId/run',
    summary: 'Create the issue of a routine immediately, even if the routine is paused',
    who: [board, ceo, manager],
    responses: { 201: RoutineRun },
    run: (ctx, { caller, params }) =>
      ctx.write(() => toRoutineRun(runRoutine(ctx, caller, getOwnRoutine(ctx, caller, params.routineId)))),
  }),
  route({
    id: 'routines.pause',
    method: 'POST',
    path: '/api/routines/:routineId/pause',
    summary: 'Pause a routine',
    who: [board, ceo, manager],
    responses: { 200: Routine },
    run: (ctx, { caller, params }) =>
      ctx.write(() => show(ctx, switchRoutine(ctx, caller, getOwnRoutine(ctx, caller, params.routineId), 'paused'))),
  }),
  route({
    id: 'routines.resume',
    method: 'POST',
    path: '/api/routines/:routineId/resume',
    summary: 'Resume a routine at its next scheduled time',
    who: [board, ceo, manager],
    responses: { 200: Routine },
    run: (ctx, { caller, params }) =>
      ctx.write(() => show(ctx, switchRoutine(ctx, caller, getOwnRoutine(ctx, caller, params.routineId), 'active'))),
  }),
  history,
  alias(history, { id: 'routines.runs', path: '/api/routines/:routineId/runs' }),
]
