/** A step from one version of the schema to the next one. */
export interface Migration {
  /** A summary of the change, for the log and for `service upgrade --dry-run`. */
  summary: string
  sql: string
}

/**
 * The migrations, in order: the first one leads from version 1 to 2. A
 * migration never changes after its release. Tests verify that the migrations
 * lead from each released schema (test/fixtures/schemas) to schema.sql.
 */
export const MIGRATIONS: readonly Migration[] = []
