/**
 * The columns of a wanted change that differ from the row; what is undefined
 * is left as it is. Undefined when nothing would change, so that a PATCH to
 * what stands already writes nothing.
 */
export function difference<Row extends object>(
  row: Row,
  want: { [Column in keyof Row]?: Row[Column] | undefined },
): Partial<Row> | undefined {
  const differs = ([column, value]: [string, unknown]) => value !== undefined && value !== row[column as keyof Row]
  const changed = Object.entries(want).filter(differs)
  return changed.length > 0 ? (Object.fromEntries(changed) as Partial<Row>) : undefined
}

/** Columns as the API names them, for an activity's details: `parent_id` is `parentId`. */
export const fieldNames = (change: object) =>
  Object.keys(change).map((column) => column.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()))
