/**
 * Returns the columns of a change that differ from the row, ignoring undefined
 * values. Returns undefined if no column differs: a PATCH with the current values
 * is a no-op.
 */
export function difference<Row extends object>(
  row: Row,
  want: { [Column in keyof Row]?: Row[Column] | undefined },
): Partial<Row> | undefined {
  const differs = ([column, value]: [string, unknown]) => value !== undefined && value !== row[column as keyof Row]
  const changed = Object.entries(want).filter(differs)
  return changed.length > 0 ? (Object.fromEntries(changed) as Partial<Row>) : undefined
}

/** Converts column names to API field names for the details of an activity: `parent_id` becomes `parentId`. */
export const fieldNames = (change: object) =>
  Object.keys(change).map((column) => column.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()))
