import { daysOf } from '../../organization/cost/totals.ts'
import type { Context } from '../../platform/context.ts'
import { type CostEventRow, toCostEvent } from './book.ts'
import { type CostEventFilters, listCostEvents, selectCostEvents } from './list.ts'

/** The number of events per read. The main thread is free between two reads. */
const PAGE = 1_000

const COLUMNS = [
  'id',
  'occurredAt',
  'agentId',
  'issueId',
  'projectId',
  'goalId',
  'heartbeatRunId',
  'billingCode',
  'provider',
  'model',
  'inputTokens',
  'cachedInputTokens',
  'outputTokens',
  'costCents',
  'costStatus',
  'createdAt',
] as const satisfies (keyof ReturnType<typeof toCostEvent>)[]

/** Streams the selected cost events of a company as CSV (RFC 4180), newest first, with a header line. */
export function costEventsAsCsv(
  ctx: Context,
  companyId: string,
  filters: CostEventFilters,
): ReadableStream<Uint8Array> {
  const events = selectCostEvents(companyId, { ...filters, ...daysOf(filters, ctx.now) })
  const encoder = new TextEncoder()
  let after: { at: string; id: string } | undefined
  return new ReadableStream({
    start: (controller) => controller.enqueue(encoder.encode(`${COLUMNS.join(',')}\r\n`)),
    pull(controller) {
      const rows = listCostEvents(ctx.db, events, { after, limit: PAGE }).slice(0, PAGE)
      if (rows.length > 0) controller.enqueue(encoder.encode(rows.map(toLine).join('')))
      if (rows.length < PAGE) return controller.close()
      const last = rows.at(-1)!
      after = { at: last.occurred_at, id: last.id }
    },
  })
}

function toLine(row: CostEventRow): string {
  const event = toCostEvent(row)
  return `${COLUMNS.map((column) => toCell(event[column])).join(',')}\r\n`
}

/**
 * Formats a value as a CSV cell. Other users wrote some of the texts, so a
 * spreadsheet must not run one as a formula.
 */
function toCell(value: string | number | null): string {
  if (typeof value !== 'string') return value === null ? '' : String(value)
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
