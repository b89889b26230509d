import * as v from 'valibot'
import { operator } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import * as field from '../../http/fields.ts'
import { listOf } from '../../http/list.ts'
import { CHECKS, checkDatabase } from './database-check.ts'

const check = v.picklist(CHECKS)

/** The endpoint that checks the database. */
export const checkRoutes = [
  route({
    id: 'instance.check',
    method: 'GET',
    path: '/api/instance/check',
    summary: 'Check the database: recompute stored totals, and verify that no activity was altered or removed',
    description:
      'The check changes no data. It runs in a separate thread and takes seconds per million rows. Only one check runs at a time.',
    who: [operator],
    query: v.object({
      only: v.optional(
        v.pipe(listOf(CHECKS), v.description('The checks to run, separated by commas. The default is all.')),
      ),
      noted: v.optional(
        v.pipe(
          v.string(),
          v.maxLength(100),
          v.description('The hash of an earlier activity head, which must still exist.'),
        ),
      ),
    }),
    responses: {
      200: v.strictObject({
        ok: v.boolean(),
        checks: v.array(check),
        findings: v.array(v.strictObject({ check, message: v.string() })),
        activityHeads: v.pipe(
          v.array(
            v.strictObject({ companyId: field.id, companyName: v.string(), entries: field.integer, hash: v.string() }),
          ),
          v.description(
            'The newest activity of each company. Store a copy outside the database: a later check with `noted` proves that no activity was removed.',
          ),
        ),
      }),
    },
    run: (ctx, { query }) => checkDatabase(ctx, query),
  }),
]
