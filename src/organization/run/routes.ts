import * as v from 'valibot'
import { agent, board } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import { alias } from '../../http/route.ts'
import { getRun, showRun } from './get.ts'
import { pageOfRuns, RUN_LIST_QUERY } from './list.ts'
import { Run } from './run.ts'

const list = route({
  id: 'runs.list',
  method: 'GET',
  path: '/api/companies/:companyId/runs',
  summary: 'List the runs of a company, newest first',
  who: [board, agent],
  query: RUN_LIST_QUERY,
  responses: { 200: v.array(Run) },
  run: (ctx, { params, query }) => pageOfRuns(ctx, params.companyId, query, false),
})

const get = route({
  id: 'runs.get',
  method: 'GET',
  path: '/api/runs/:runId',
  summary: 'Get a run',
  who: [board, agent],
  responses: { 200: Run },
  run: (ctx, { caller, params }) => showRun(ctx, getRun(ctx, caller, params.runId)),
})

const live = route({
  id: 'runs.live',
  method: 'GET',
  path: '/api/companies/:companyId/live-runs',
  summary: 'List the runs that have not ended',
  who: [board, agent],
  query: RUN_LIST_QUERY,
  responses: { 200: v.array(Run) },
  run: (ctx, { params, query }) => pageOfRuns(ctx, params.companyId, query, true),
})

/** The endpoints that read runs, each with the alias under which existing clients call it. */
export const runRoutes = [
  list,
  live,
  get,
  alias(list, { id: 'heartbeatRuns.list', path: '/api/companies/:companyId/heartbeat-runs' }),
  alias(get, { id: 'heartbeatRuns.get', path: '/api/heartbeat-runs/:runId' }),
]
