import type { Context } from '../context.ts'

/**
 * Makes the active members of one company those of another, in the write that
 * creates it. In local trusted mode there are none: everybody is the board.
 */
export function copyMemberships(_ctx: Context, _from: { companyId: string }, _to: { companyId: string }): void {}
