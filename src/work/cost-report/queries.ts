import type { Db } from '../../platform/database/db.ts'
import { prepared, raw, sql } from '../../platform/database/sql.ts'

const sums = prepared((of: { issueId: string; maxDepth: number }) =>
  sql
    .withRecursive('below(id, company_id, depth)', (cte) =>
      cte
        .selectFrom('issue')
        .select(['issue.id', 'issue.company_id', raw<number>`0`.as('depth')])
        .where('issue.id', '=', of.issueId)
        .unionAll(
          cte
            .selectFrom('below')
            .innerJoin('issue', 'issue.parent_id', 'below.id')
            .select(['issue.id', 'issue.company_id', raw<number>`below.depth + 1`.as('depth')])
            .where('below.depth', '<', of.maxDepth),
        ),
    )
    .selectFrom('below')
    .leftJoin('cost_event', 'cost_event.issue_id', 'below.id')
    .select(({ fn }) => [
      fn.count<number>('below.id').distinct().as('issues'),
      fn.count<number>('cost_event.id').as('events'),
      raw<number>`coalesce(sum(cost_status = 'unpriced'), 0)`.as('unpriced'),
      raw<number>`coalesce(sum(input_tokens), 0)`.as('input_tokens'),
      raw<number>`coalesce(sum(cached_input_tokens), 0)`.as('cached_input_tokens'),
      raw<number>`coalesce(sum(output_tokens), 0)`.as('output_tokens'),
      raw<number>`coalesce(sum(cost_micros), 0)`.as('cost_micros'),
    ]),
)

/** Sums up the cost events of an issue, or of it and all issues below it. */
export const sumOfIssues = (db: Db, { issueId, isDeep }: { issueId: string; isDeep: boolean }) =>
  db.first(sums({ issueId, maxDepth: isDeep ? 1_000 : 0 }))!
