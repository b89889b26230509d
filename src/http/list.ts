import type { SelectQueryBuilder } from 'kysely'
import * as v from 'valibot'
import type { Db } from '../platform/database/db.ts'
import { countRows, raw } from '../platform/database/sql.ts'
import { invalid } from '../platform/errors.ts'
import type { Endpoint } from './route.ts'

/** The query parameters of every list; spread into the query schema of the endpoint. */
export const LIST_QUERY = {
  limit: v.optional(v.pipe(wholeNumber(1, 1_000), v.description('The maximum number of entries.')), '500'),
  after: v.optional(
    v.pipe(v.string(), v.description('The cursor in the `Link: rel="next"` header of the previous page.')),
  ),
  count: v.optional(
    v.pipe(v.picklist(['true', 'false']), v.description('Whether the response contains the header `X-Total-Count`.')),
  ),
}

export interface ListQuery {
  limit: number
  after?: string | undefined
  count?: 'true' | 'false' | undefined
}

/** Whether the query schema of an endpoint has a parameter. An endpoint with `after` returns a page of a list. */
export const takes = ({ query }: Pick<Endpoint, 'query'>, name: string): boolean =>
  name in ((query as { entries?: object } | undefined)?.entries ?? {})

/** A number in a query. */
export function wholeNumber(least: number, most: number) {
  return v.pipe(
    v.string(),
    v.regex(/^\d+$/, 'must be a number'),
    v.transform(Number),
    v.number(),
    v.integer(),
    v.minValue(least),
    v.maxValue(most),
  )
}

/**
 * A filter of one or several values separated by commas, such as
 * `status=todo,blocked`. Empty entries are ignored, and each value counts once.
 * A filter without a value does not filter.
 */
export const listOf = <const Values extends readonly string[]>(values: Values) =>
  v.pipe(
    v.string(),
    v.transform((text) => [...new Set(text.split(',').map((entry) => entry.trim()))].filter((entry) => entry !== '')),
    v.check(
      (entries) => entries.every((entry) => values.includes(entry)),
      `must be one or several of ${values.join(', ')}, separated by commas`,
    ),
    // For the OpenAPI document. A failed check above stops the pipe, so errors name the field and not an index.
    v.array(v.picklist(values)),
    v.transform((entries) => (entries.length > 0 ? entries : undefined)),
  )

/** One page of a list. The response is a bare array with `Link` and `X-Total-Count` headers. */
export class Page<T> {
  readonly items: T[]
  readonly next: string | undefined
  readonly total: number | undefined

  private constructor(items: T[], next: string | undefined, total: number | undefined) {
    this.items = items
    this.next = next
    this.total = total
  }

  /**
   * Creates a page from up to `limit + 1` rows: the additional row means that
   * there is another page.
   *
   * @param cursorOf returns the values of the sort columns of a row; the next
   *   page begins after the last row
   */
  static of<Row, T>(
    rows: Row[],
    options: {
      limit: number
      cursorOf: (row: Row) => CursorValue[]
      show: (row: Row) => T
      total?: number | undefined
    },
  ): Page<T> {
    const displayed = rows.slice(0, options.limit)
    const next = rows.length > options.limit ? encodeCursor(options.cursorOf(displayed.at(-1)!)) : undefined
    return new Page(displayed.map(options.show), next, options.total)
  }

  map<U>(show: (item: T) => U): Page<U> {
    return new Page(this.items.map(show), this.next, this.total)
  }
}

/**
 * Reads the requested page of the rows that `rows` selects.
 *
 * @param rows a query without order and limit
 * @param order.by the column that sorts the list. Its values must be unique in
 *   the list.
 * @param order.table the column's table, if several tables of the query have
 *   such a column
 * @param order.cursor the type of the column's values. Default: string.
 */
export function readPage<Row>(
  db: Db,
  // biome-ignore lint/suspicious/noExplicitAny: the tables of the query do not matter here.
  rows: SelectQueryBuilder<any, any, Row>,
  query: ListQuery,
  order: { by: keyof Row & string; table?: string; direction?: 'asc' | 'desc'; cursor?: 'string' | 'number' },
): Page<Row> {
  const { by, direction = 'asc' } = order
  const column = raw.ref(order.table === undefined ? by : `${order.table}.${by}`)
  const after = decodeCursor(query.after, [order.cursor ?? 'string'])?.[0]
  const page = rows.orderBy(column, direction).limit(query.limit + 1)
  return Page.of(db.all(after === undefined ? page : page.where(column, direction === 'asc' ? '>' : '<', after)), {
    limit: query.limit,
    cursorOf: (row) => [row[by] as CursorValue],
    show: (row) => row,
    total: query.count === 'true' ? countRows(db, rows) : undefined,
  })
}

type CursorValue = string | number

const encodeCursor = (values: CursorValue[]) => Buffer.from(JSON.stringify(values)).toString('base64url')

/**
 * Decodes a cursor to values of the types in `shape`.
 *
 * @throws AppError 400 if this list did not create the cursor
 */
export function decodeCursor<const Shape extends readonly ('string' | 'number')[]>(
  cursor: string | undefined,
  shape: Shape,
): { [K in keyof Shape]: Shape[K] extends 'string' ? string : number } | undefined {
  if (cursor === undefined) return undefined
  try {
    const values: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (Array.isArray(values) && values.length === shape.length && values.every((x, i) => typeof x === shape[i])) {
      return values as never
    }
  } catch {
    // Not JSON: the error below applies.
  }
  throw invalid([{ path: 'after', message: 'is not a cursor of this list; use the one in the Link header' }])
}
