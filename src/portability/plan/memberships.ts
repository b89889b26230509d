import type { Context } from '../../platform/context.ts'
import { raw, sql } from '../../platform/database/sql.ts'

/**
 * Makes the members of one company those of another, in the write that creates
 * it, each with the role that they have. Whoever is a member already stays what
 * they are. In local trusted mode there are none: everybody is the board.
 */
export function copyMemberships(ctx: Context, from: { companyId: string }, to: { companyId: string }): void {
  ctx.db.run(
    sql
      .insertInto('membership')
      .columns(['company_id', 'user_id', 'role', 'created_at'])
      .expression(
        sql
          .selectFrom('membership')
          .select([raw<string>`${to.companyId}`.as('company_id'), 'user_id', 'role', raw<string>`${ctx.now}`.as('at')])
          .where('company_id', '=', from.companyId),
      )
      .onConflict((conflict) => conflict.doNothing()),
  )
}
