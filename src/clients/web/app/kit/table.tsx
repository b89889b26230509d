import type { ComponentChildren } from 'preact'

export interface Column<Row> {
  title: string
  cell: (row: Row) => ComponentChildren
  /** Whether the column contains numbers, which are right-aligned. */
  isNumber?: boolean
  /** Whether the column is hidden on a phone. */
  isExtra?: boolean
}

/** A table of up to a hundred rows. For more rows, use a `List`. */
export function Table<Row>({
  label,
  columns,
  rows,
  keyOf,
}: {
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
}) {
  const shape = ({ isNumber, isExtra }: Column<Row>) =>
    [isNumber && 'num', isExtra && 'extra'].filter(Boolean).join(' ')
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label={label}>
      <table class="table">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" class={shape(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <td key={column.title} class={shape(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
