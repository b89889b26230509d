import { mkdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { createDb } from '../../platform/database/db.ts'
import { refuseForeign, SCHEMA_VERSION } from '../../platform/database/migrate.ts'
import { openReadOnly } from '../../platform/database/reader-thread.ts'
import { sql } from '../../platform/database/sql.ts'
import { createVault } from '../../platform/vault.ts'
import { CliError, EXIT } from '../connection/exit-codes.ts'
import { CHECKS, type CheckName, deepCheck } from '../database-check/database-check.ts'
import { extractArchive } from './archive.ts'
import type { Manifest } from './manifest.ts'

/** The steps of a backup or restore in the progress display. */
export type Step = 'copying the database' | 'writing the archive' | 'reading the archive' | 'checking the database'

/** Receives the current step, and its completed share from 0 to 1. */
export type OnProgress = (step: Step, done: number) => void

/** The content of a checked archive. */
export interface CheckedArchive {
  manifest: Manifest
  companies: number
  issues: number
  /** One sentence for each secret that the key does not decrypt. */
  unreadableSecrets: string[]
}

/** The checks that work with every version of the schema. The SQL of the others requires the current one. */
const CHECKS_OF_ANY_SCHEMA: readonly CheckName[] = ['integrity', 'foreign_keys']

/**
 * Extracts an archive into a folder and checks it: compares every hash, opens
 * the database and runs its checks.
 *
 * @param folder a folder that does not exist yet, for the files of the archive
 * @param secretKey the key for the secrets of the database; without it they are not checked
 * @throws CliError for an archive that is damaged or of a newer version
 */
export async function checkArchive(
  archive: string,
  folder: string,
  { secretKey, onProgress = () => {} }: { secretKey?: () => Uint8Array | undefined; onProgress?: OnProgress } = {},
): Promise<CheckedArchive> {
  const total = statSync(archive, { throwIfNoEntry: false })?.size
  if (total === undefined) throw new CliError(EXIT.usage, `There is no file ${archive}.`)
  mkdirSync(folder, { mode: 0o700 })
  let read = 0
  const manifest = await extractArchive(archive, folder, (bytes) => {
    read += bytes
    onProgress('reading the archive', read / total)
  })
  const file = path.join(folder, 'service.db')
  const sqlite = openReadOnly(file)
  try {
    refuseForeign(sqlite, archive)
    const db = createDb(sqlite)
    const isPresent = manifest.schema === SCHEMA_VERSION
    const key = secretKey?.()
    const only = isPresent ? CHECKS.filter((check) => check !== 'secrets') : CHECKS_OF_ANY_SCHEMA
    const { findings } = deepCheck(
      { db, vault: createVault(key ?? new Uint8Array(32)) },
      {
        only: isPresent && secretKey ? [...only, 'secrets'] : only,
        onProgress: ({ step, steps }) => onProgress('checking the database', step / steps),
      },
    )
    const broken = findings.filter(({ check }) => check !== 'secrets')
    if (broken.length > 0) {
      throw new CliError(
        EXIT.failure,
        `The database in ${archive} is damaged: ${summarize(broken.map(({ message }) => message))}`,
      )
    }
    const count = (table: 'company' | 'issue') =>
      db.first(sql.selectFrom(table).select((eb) => eb.fn.countAll<number>().as('n')))?.n ?? 0
    return {
      manifest,
      companies: count('company'),
      issues: count('issue'),
      unreadableSecrets: findings.filter(({ check }) => check === 'secrets').map(({ message }) => message),
    }
  } finally {
    sqlite.close()
  }
}

/** The number of findings that an error message contains. */
const LISTED = 3

/** Joins the first findings to one text, with the number of the others. */
function summarize(messages: readonly string[]): string {
  const others = messages.length - LISTED
  const first = messages.slice(0, LISTED).join(' ')
  return others > 0 ? `${first} There are ${others} more: see \`service doctor --deep\`.` : first
}
