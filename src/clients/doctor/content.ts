import { checkData } from '../cli/check.ts'
import type { ConnectionOptions } from '../cli/connection.ts'
import type { Check, Finding } from './check.ts'
import { CHECKS, type CheckName } from './database-check.ts'

/** What takes no time to speak of, however much there is. */
const QUICK: readonly CheckName[] = ['foreign_keys', 'issue_counts', 'run_totals', 'secrets']

/** Whether what stands in the database is right: the quick parts of it, or all that is kept twice. */
export const contentCheck = (options: ConnectionOptions, { deep }: { deep: boolean }): Check => ({
  id: 'content',
  title: 'Content',
  async look() {
    const only = deep ? CHECKS : QUICK
    const { findings } = await checkData(options, { only })
    return only.map((check): Finding => {
      const wrong = findings.filter((finding) => finding.check === check).map(({ message }) => message)
      const name = check.replaceAll('_', ' ')
      const details = { check, findings: wrong }
      if (wrong.length === 0) return { status: 'ok', message: name, details }
      const message = `${name}: ${wrong.join(' ')}`
      // Of what does not open its sentence says what mends it.
      return { status: 'broken', message, ...(check !== 'secrets' && { hint: 'Restore a backup.' }), details }
    })
  },
})
