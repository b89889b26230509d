import { isDatabaseFault } from '../../platform/database/write-queue.ts'
import type { ConnectionOptions } from '../connection/connect.ts'
import { checkData } from '../database-check/check-data.ts'
import {
  CHECKS,
  type CheckName,
  type CheckRequest,
  type Finding as DatabaseFinding,
} from '../database-check/database-check.ts'
import type { Check, Finding } from './check.ts'

/** The checks that are fast, whatever the size of the database. */
const QUICK: readonly CheckName[] = ['foreign_keys', 'issue_counts', 'run_totals', 'secrets']

/** Checks the content of the database: the fast checks, or with `deep` all of them. */
export const contentCheck = (
  options: ConnectionOptions,
  { deep, onProgress }: { deep: boolean } & Pick<CheckRequest, 'onProgress'>,
): Check => ({
  id: 'content',
  title: 'Content',
  async run() {
    const only = deep ? CHECKS : QUICK
    const { findings } = await checkData(options, { only, onProgress }).catch(async (error) => {
      if (!isDatabaseFault(error)) throw error
      return { findings: await diagnose(options, error) }
    })
    const damage = findings.filter(({ check }) => check === 'integrity').map(({ message }) => message)
    if (damage.length > 0) {
      const message = `The database is damaged: ${damage.slice(0, 3).join(' ')}`
      return [
        { status: 'broken', message, hint: 'Restore a backup: service restore FILE.', details: { findings: damage } },
      ]
    }
    return only.map((check): Finding => {
      const wrong = findings.filter((finding) => finding.check === check).map(({ message }) => message)
      const name = check.replaceAll('_', ' ')
      const details = { check, findings: wrong }
      if (wrong.length === 0) return { status: 'ok', message: `${name}: no faults`, details }
      const message = `${name}: ${wrong.join(' ')}`
      // The message about a secret already contains the repair.
      return { status: 'broken', message, ...(check !== 'secrets' && { hint: 'Restore a backup.' }), details }
    })
  },
})

/** Runs SQLite's integrity check on a database in which another check failed. */
async function diagnose(options: ConnectionOptions, failure: Error): Promise<DatabaseFinding[]> {
  const found = await checkData(options, { only: ['integrity'] }).catch(() => undefined)
  return found?.findings.length ? found.findings : [{ check: 'integrity', message: failure.message }]
}
