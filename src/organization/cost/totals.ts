import { hasExistingDay } from '../../http/fields.ts'
import type { Db } from '../../platform/database/db.ts'
import { countRows, raw, sql } from '../../platform/database/sql.ts'
import { invalid } from '../../platform/errors.ts'
import { MICROS_PER_CENT, monthOf } from './money.ts'

/** A range of whole UTC days, including both ends, such as `2026-11-01` to `2026-11-30`. */
export interface Days {
  from: string
  to: string
}

/**
 * Returns the days that a query selects. Default: the current month. A
 * timestamp means its UTC day, because totals are stored by day: their query
 * takes the same time for any number of events.
 */
export function daysOf(query: { from?: string | undefined; to?: string | undefined }, now: string): Days {
  const from = dayOf('from', query.from) ?? `${monthOf(now)}-01`
  const to = dayOf('to', query.to) ?? now.slice(0, 10)
  if (from > to) throw invalid([{ path: 'from', message: 'must not be after `to`' }])
  return { from, to }
}

function dayOf(path: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const at = hasExistingDay(text) ? new Date(text) : undefined
  if (at && !Number.isNaN(at.getTime())) return at.toISOString().slice(0, 10)
  throw invalid([{ path, message: 'must be a date like 2026-11-30 or an ISO 8601 timestamp' }])
}

export interface Total {
  /** The key of the group: an id, `provider/model`, or a day; '' for events without one. */
  key: string
  events: number
  unpriced: number
  input_tokens: number
  cached_input_tokens: number
  output_tokens: number
  cost_micros: number
}

export type TotalKind = 'company' | 'agent' | 'project' | 'issue' | 'model' | 'provider'

/** A company's totals of one kind for a range of days. */
export type TotalsOf = { companyId: string; kind: TotalKind } & Days

/** Lists the totals by key, the most expensive first. Returns one row more than `limit` if there are more. */
export function listTotals(
  db: Db,
  of: TotalsOf,
  page: { after: readonly [costMicros: number, key: string] | undefined; limit: number },
): Total[] {
  const { after } = page
  let query = totalsBy('key', of).orderBy('cost_micros', 'desc').orderBy('key')
  if (after) {
    query = query.having(({ eb, fn, and, or }) => {
      const cost = fn.sum<number>('cost_micros')
      return or([eb(cost, '<', after[0]), and([eb(cost, '=', after[0]), eb(keyOf(of), '>', after[1])])])
    })
  }
  return db.all(query.limit(page.limit + 1))
}

/** Returns the total number of keys that `listTotals` returns. */
export const countTotals = (db: Db, of: TotalsOf): number => countRows(db, totalsBy('key', of))

/** Lists the totals by day, earliest first. */
export const listDays = (db: Db, of: TotalsOf): Total[] => db.all(totalsBy('period', of).orderBy('period'))

/** Returns a company's spend in a range of days. */
export const sumOfCompany = (db: Db, of: { companyId: string } & Days): Omit<Total, 'key'> =>
  db.first(totalsBy('key', { ...of, kind: 'company' })) ?? NOTHING

/** The totals of a provider are the sums of its models. The key of a model is `provider/model`. */
const keyOf = ({ kind }: TotalsOf) =>
  kind === 'provider' ? raw<string>`substr(key, 1, instr(key, '/') - 1)` : raw<string>`cost_total.key`

const totalsBy = (by: 'key' | 'period', of: TotalsOf) =>
  sql
    .selectFrom('cost_total')
    .select(({ fn }) => [
      (by === 'key' ? keyOf(of) : raw<string>`period`).as('key'),
      fn.sum<number>('events').as('events'),
      fn.sum<number>('unpriced').as('unpriced'),
      fn.sum<number>('input_tokens').as('input_tokens'),
      fn.sum<number>('cached_input_tokens').as('cached_input_tokens'),
      fn.sum<number>('output_tokens').as('output_tokens'),
      fn.sum<number>('cost_micros').as('cost_micros'),
    ])
    .where('company_id', '=', of.companyId)
    .where('kind', '=', of.kind === 'provider' ? 'model' : of.kind)
    // The table also has monthly periods of seven characters, which sort between days.
    .where('period', '>=', of.from)
    .where('period', '<=', of.to)
    .where(({ fn, eb }) => eb(fn<number>('length', ['period']), '=', 10))
    .groupBy(by === 'key' ? keyOf(of) : raw`period`)

/** Converts a total to its public form. Cents are not rounded, because small runs add up. */
export const toFigures = (total: Omit<Total, 'key'>) => ({
  costCents: total.cost_micros / MICROS_PER_CENT,
  inputTokens: total.input_tokens,
  cachedInputTokens: total.cached_input_tokens,
  outputTokens: total.output_tokens,
  eventCount: total.events,
  unpricedEventCount: total.unpriced,
})

const NOTHING: Omit<Total, 'key'> = {
  events: 0,
  unpriced: 0,
  input_tokens: 0,
  cached_input_tokens: 0,
  output_tokens: 0,
  cost_micros: 0,
}
