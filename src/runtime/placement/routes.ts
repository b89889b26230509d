import * as v from 'valibot'
import type { AgentCaller } from '../../access/caller/caller.ts'
import { agent, operator } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import { getPlacement } from '../../organization/placement/change.ts'
import { BundleResponse, ClaimBody, claimBundle } from './bundle.ts'
import { ReportBody, ReportResponse, receiveReport, requireOwnRun } from './report.ts'
import { testPlacement } from './test-placement.ts'

const Check = v.strictObject({
  name: v.pipe(v.string(), v.description('What was checked, such as `api`.')),
  ok: v.pipe(v.boolean(), v.description('Whether it is as it must be.')),
  message: v.pipe(v.string(), v.description('What was found, and what to do about it.')),
})

/** The endpoints for runs on other machines, and for their placements. */
export const remoteRunRoutes = [
  route({
    id: 'placements.test',
    method: 'POST',
    path: '/api/placements/:placement/test',
    summary: 'Try a placement with a real probe, and say what is missing',
    who: [operator],
    body: v.strictObject({}),
    bodyOptional: true,
    responses: {
      200: v.strictObject({
        ok: v.pipe(v.boolean(), v.description('Whether runs can execute there.')),
        checks: v.pipe(v.array(Check), v.description('What was checked, in order.')),
      }),
    },
    run: (ctx, { params }) => testPlacement(ctx, getPlacement(ctx, params.placement)),
  }),
  route({
    id: 'runs.claim',
    method: 'POST',
    path: '/api/runs/:runId/bundle',
    summary: 'Claim a run on another machine, and get what it starts with',
    description:
      'For the shim of a placement, with the token of the run. One process gets the bundle; it may ask again.',
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
      'For the shim of a placement, with the token of the run. A part is stored if it continues its file; `sizes` says where to continue, so a report that is sent twice counts once.',
    who: [agent],
    secret: true,
    body: ReportBody,
    responses: { 200: ReportResponse },
    run: (ctx, { caller, params, body }) => {
      requireOwnRun(caller as AgentCaller, params.runId)
      return receiveReport(ctx, params.runId, body)
    },
  }),
]
