import { styleText } from 'node:util'

export const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

export const printJson = (value: unknown): void => print(JSON.stringify(value, null, 2))

/** What may be painted; each name is one meaning, so that the whole program uses few colours. */
const PAINTS = {
  strong: 'bold',
  quiet: 'dim',
  good: 'green',
  busy: 'cyan',
  waiting: 'yellow',
  bad: 'red',
} as const

/** Paints text for a terminal; leaves it alone for a pipe, a file and `NO_COLOR`. */
export const paint = (meaning: keyof typeof PAINTS, text: string): string =>
  styleText(PAINTS[meaning], text, { stream: process.stdout })

/** Lays rows out in columns, each as wide as its widest cell. Cells are not painted: colours have no width. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Cents as money: 1234.5 is `$12.35`. */
export const money = (cents: number): string => `$${(cents / 100).toFixed(2)}`
