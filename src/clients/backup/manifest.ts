import * as v from 'valibot'

/** The version of the archive's layout. An archive with a later version is refused. */
export const ARCHIVE_FORMAT = 1

/** `manifest.json`, the last entry of an archive. An archive without it is truncated. */
export const Manifest = v.object({
  format: v.number(),
  /** The version of the program that made the backup. */
  version: v.string(),
  /** The version of the database's schema. */
  schema: v.number(),
  /** When the database's snapshot was taken, ISO 8601 UTC. */
  createdAt: v.string(),
  /** The data directory that was backed up, absolute. */
  dataDir: v.string(),
  hasKeys: v.boolean(),
  /** Every other entry: path in the archive -> size in bytes and SHA-256 in hex. */
  files: v.record(v.string(), v.object({ bytes: v.number(), sha256: v.string() })),
})
export type Manifest = v.InferOutput<typeof Manifest>
