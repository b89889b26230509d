/**
 * The migrations, in order: the first one leads from version 1 to 2. A
 * migration is SQL and never changes after its release. A test verifies that
 * the migrations lead to the same schema as schema.sql.
 */
export const MIGRATIONS: readonly string[] = []
