/**
 * The numbered steps that bring an older file to `schema.sql`: the first one
 * leads from version 1 to 2, and so on. A step is SQL, never changed once
 * released. A test holds that they lead to what schema.sql creates.
 */
export const MIGRATIONS: readonly string[] = []
