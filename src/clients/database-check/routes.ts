import * as v from 'valibot'
import { operator } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import * as field from '../../http/fields.ts'
import { listOf } from '../../http/list.ts'
import { CHECKS, checkDatabase } from './database-check.ts'

const check = v.picklist(CHECKS)

export const checkRoutes = [
  route({
    id: 'instance.check',
    method: 'GET',
    path: '/api/instance/check',
    summary: 'Recompute what the database keeps twice, and prove that no activity was altered or removed',
    description:
      'Changes no data. Runs in a thread of its own, and takes seconds per million rows. One check runs at a time.',
    who: [operator],
    query: v.object({
      only: v.optional(v.pipe(listOf(CHECKS), v.description('Some of the checks, separated by commas.'))),
      noted: v.optional(
        v.pipe(
          v.string(),
          v.maxLength(100),
          v.description('The hash of an earlier activity head, which must still be there.'),
        ),
      ),
    }),
    responses: {
      200: v.strictObject({
        ok: v.boolean(),
        checks: v.array(check),
        findings: v.array(v.strictObject({ check, message: v.string() })),
        activityHeads: v.pipe(
          v.array(v.strictObject({ companyId: field.id, entries: field.integer, hash: v.string() })),
          v.description("Each company's newest activity. Noted elsewhere, it proves later that nothing was cut off."),
        ),
      }),
    },
    run: (ctx, { query }) => checkDatabase(ctx, query),
  }),
]
