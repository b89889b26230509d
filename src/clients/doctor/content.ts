import type { ConnectionOptions } from '../connection/connect.ts'
import type { Check, Finding } from './check.ts'
import { checkData } from './check-data.ts'
import { CHECKS, type CheckName, type CheckRequest } from './database-check.ts'

/** The checks that are fast, whatever the size of the database. */
const QUICK: readonly CheckName[] = ['foreign_keys', 'issue_counts', 'run_totals', 'secrets']

/** Checks the content of the database: the fast checks, or with `deep` all of them. */
export const contentCheck = (
  options: ConnectionOptions,
  { deep, onProgress }: { deep: boolean } & Pick<CheckRequest, 'onProgress'>,
): Check => ({
  id: 'content',
  title: 'Content',
  async look() {
    const only = deep ? CHECKS : QUICK
    const { findings } = await checkData(options, { only, onProgress })
    return only.map((check): Finding => {
      const wrong = findings.filter((finding) => finding.check === check).map(({ message }) => message)
      const name = check.replaceAll('_', ' ')
      const details = { check, findings: wrong }
      if (wrong.length === 0) return { status: 'ok', message: name, details }
      const message = `${name}: ${wrong.join(' ')}`
      // The message about a secret already says how to repair it.
      return { status: 'broken', message, ...(check !== 'secrets' && { hint: 'Restore a backup.' }), details }
    })
  },
})
