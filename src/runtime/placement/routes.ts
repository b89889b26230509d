import * as v from 'valibot'
import type { AgentCaller } from '../../access/caller/caller.ts'
import { agent, operator } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import { getPlacement } from '../../organization/placement/change.ts'
import { BundleResponse, ClaimBody, claimBundle } from './bundle.ts'
import { ReportBody, ReportResponse, receiveReport, requireOwnRun } from './report.ts'
import { testPlacement } from './test-placement.ts'

const Check = v.strictObject({
  name: v.pipe(v.string(), v.description('The name of the check, such as `api`.')),
  ok: v.pipe(v.boolean(), v.description('Whether the check passed.')),
  message: v.pipe(v.string(), v.description('The result, and the action to take if the check failed.')),
})

/** The endpoints that runs on other machines use, and the test of a placement. */
export const remoteRunRoutes = [
  route({
    id: 'placements.test',
    method: 'POST',
    path: '/api/placements/:placement/test',
    summary: 'Test a placement with a real probe',
    who: [operator],
    body: v.strictObject({}),
    bodyOptional: true,
    responses: {
      200: v.strictObject({
        ok: v.pipe(v.boolean(), v.description('Whether runs can execute in the placement.')),
        checks: v.pipe(v.array(Check), v.description('The checks, in order.')),
      }),
    },
    run: (ctx, { params }) => testPlacement(ctx, getPlacement(ctx, params.placement)),
  }),
  route({
    id: 'runs.claim',
    method: 'POST',
    path: '/api/runs/:runId/bundle',
    summary: 'Claim a run on another machine and get its bundle',
    description:
      'For the shim of a placement, with the token of the run. Only one process gets the bundle. It may repeat the request.',
    who: [agent],
    secret: true,
    body: ClaimBody,
    responses: { 200: BundleResponse },
    run: (ctx, { caller, params, body }) => {
      requireOwnRun(caller as AgentCaller, params.runId)
      return claimBundle(ctx, params.runId, body)
    },
  }),
  route({
    id: 'runs.report',
    method: 'POST',
    path: '/api/runs/:runId/report',
    summary: 'Report the output, the facts and the end of a run on another machine',
    description:
      'For the shim of a placement, with the token of the run. A part is stored only if it continues its file, so a report can be repeated. `sizes` has the offsets at which to continue. After the end of the run, only the usage in its facts is recorded, and the response requests a stop.',
    who: [agent],
    secret: true,
    acceptsEndedRun: true,
    body: ReportBody,
    responses: { 200: ReportResponse },
    run: (ctx, { caller, params, body }) => {
      requireOwnRun(caller as AgentCaller, params.runId)
      return receiveReport(ctx, params.runId, body)
    },
  }),
]
