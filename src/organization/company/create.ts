import { recordActivity } from '../../access/activity/record.ts'
import { requireFounder } from '../../access/board/founder.ts'
import { insertMembership } from '../../access/board/membership-queries.ts'
import type { Caller } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import { uuid } from '../../platform/uuid.ts'
import { toMicros } from '../cost/money.ts'
import { addBundledSkills } from '../skill/bundled.ts'
import type { NewCompany } from './company.ts'
import { findCompanyWithSpend, insertCompany, prefixesWith } from './queries.ts'

/**
 * Creates a company. Its issue prefix comes from its name and never changes.
 * The person who creates it becomes its owner.
 */
export function createCompany(ctx: Context, caller: Caller, want: NewCompany) {
  requireFounder(ctx, caller)
  const id = uuid()
  insertCompany(ctx.db, {
    id,
    name: want.name,
    description: want.description ?? null,
    brand_color: want.brandColor ?? null,
    issue_prefix: choosePrefix(ctx, want.name),
    budget_micros: toMicros(want.budgetMonthlyCents ?? 0),
    require_board_approval_for_new_agents: want.requireBoardApprovalForNewAgents ? 1 : 0,
    created_at: ctx.now,
    updated_at: ctx.now,
  })
  if (caller.type === 'board' && caller.roles !== null) {
    insertMembership(ctx.db, { company_id: id, user_id: caller.userId, role: 'owner', created_at: ctx.now })
  }
  recordActivity(ctx, caller, {
    companyId: id,
    action: 'company.created',
    entity: { type: 'company', id },
    details: { name: want.name },
  })
  addBundledSkills(ctx, id)
  return findCompanyWithSpend(ctx.db, { id, now: ctx.now })!
}

/**
 * Returns the first three letters of a name in upper case (`Walrus Ltd` becomes
 * `WAL`), with letters added until it is unique: `WALA`, ... `WALZ`, `WALAA`.
 */
function choosePrefix(ctx: Context, name: string): string {
  const letters = name
    .normalize('NFKD')
    .toUpperCase()
    .replaceAll(/[^A-Z]/g, '')
  const stem = letters.slice(0, 3).padEnd(2, 'X')
  const taken = prefixesWith(ctx.db, stem)
  for (let n = 0; ; n++) {
    const prefix = stem + suffix(n)
    if (!taken.has(prefix)) return prefix
  }
}

/** 0 becomes '', 1 becomes `A`, 26 `Z` and 27 `AA`. */
const suffix = (n: number): string =>
  n === 0 ? '' : suffix(Math.floor((n - 1) / 26)) + String.fromCharCode(65 + ((n - 1) % 26))
