import * as v from 'valibot'
import type { Caller } from '../../access/caller/caller.ts'
import { anyone, board, operator } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import * as field from '../../http/fields.ts'
import type { Context } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { freezeAll, thawAll } from './freeze.ts'
import { countLoad, findFreeze } from './queries.ts'

/** The instance as the API returns it. */
const Instance = v.strictObject({
  isReadOnly: v.pipe(
    v.boolean(),
    v.description('Whether the server was started with --read-only: it refuses changes and starts no agent.'),
  ),
  isFrozen: v.boolean(),
  frozenAt: v.nullable(field.timestamp),
  frozenBy: v.nullable(v.string()),
  frozenBecause: v.nullable(v.string()),
  liveRuns: v.pipe(field.integer, v.description('The number of live runs in the companies of the caller.')),
  waitingWakes: v.pipe(field.integer, v.description('The number of agents with a queued wake.')),
})

export const instanceRoutes = [
  route({
    id: 'health.get',
    method: 'GET',
    path: '/api/health',
    summary: 'Check that the server is up and can write its database',
    description:
      'After a write failed because of the disk or the database file, each call tries a write that changes nothing. While that fails, the response is the error (`database_damaged`, `disk_full`), whose `details` have `version`, `mode` and `instance`.',
    who: [anyone],
    responses: {
      200: v.strictObject({ status: v.literal('ok'), version: v.string(), mode: v.string(), instance: v.string() }),
    },
    async run(ctx) {
      const { version, mode, instance } = ctx.config
      try {
        await ctx.checkWrites()
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        throw Object.assign(new AppError(error.code, error.message, { version, mode, instance }), {
          cause: error.cause,
        })
      }
      return { status: 'ok', version, mode, instance }
    },
  }),
  route({
    id: 'instance.get',
    method: 'GET',
    path: '/api/instance',
    summary: 'Get the state of the instance: freeze, live runs and queued wakes',
    who: [board],
    responses: { 200: Instance },
    run: (ctx, { caller }) => show(ctx, caller),
  }),
  route({
    id: 'instance.freeze',
    method: 'POST',
    path: '/api/instance/freeze',
    summary: 'Freeze: stop all runs of all companies, and prevent new ones',
    description:
      'Responds immediately. All processes have ended after the grace period plus 2 seconds. The freeze persists across restarts until the thaw.',
    who: [operator],
    body: v.strictObject({ reason: v.optional(v.nullable(field.text)) }),
    bodyOptional: true,
    responses: { 200: Instance },
    run: (ctx, { caller, body }) =>
      ctx.write(() => {
        freezeAll(ctx, caller, body.reason ?? null)
        return show(ctx, caller)
      }),
  }),
  route({
    id: 'instance.thaw',
    method: 'POST',
    path: '/api/instance/thaw',
    summary: 'End a freeze. All queued wakes can start again',
    who: [operator],
    body: v.strictObject({}),
    bodyOptional: true,
    responses: { 200: Instance },
    run: (ctx, { caller }) =>
      ctx.write(() => {
        thawAll(ctx, caller)
        return show(ctx, caller)
      }),
  }),
]

function show(ctx: Context, caller: Caller): v.InferOutput<typeof Instance> {
  const freeze = findFreeze(ctx.db)
  return {
    isReadOnly: ctx.config.readOnly,
    isFrozen: freeze !== undefined,
    frozenAt: freeze?.created_at ?? null,
    frozenBy: freeze?.user_id ?? null,
    frozenBecause: freeze?.reason ?? null,
    ...countLoad(ctx.db, caller.type === 'board' ? caller.roles && new Set(caller.roles.keys()) : new Set()),
  }
}
