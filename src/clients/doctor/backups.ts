import { existsSync } from 'node:fs'
import path from 'node:path'
import { readConfig } from '../../platform/config.ts'
import { backupFolder, newestBackup } from '../backup/schedule.ts'
import { ago } from '../cli/command/output.ts'
import type { Check } from './check.ts'

const DAY_MS = 86_400_000

/** How old the newest backup may be, when there is one each day that the server is up. */
const OLD_MS = 7 * DAY_MS

/** When the last backup was written. Backups in other folders are not known here. */
export const backupsCheck: Check = {
  id: 'backups',
  title: 'Backups',
  look({ dataDir }) {
    if (!existsSync(path.join(dataDir, 'service.db')))
      return [{ status: 'ok', message: 'There is nothing to back up yet.' }]
    const newest = newestBackup(backupFolder(dataDir))
    const hint = 'service backup writes one now.'
    if (!newest) {
      const { daily } = readConfig({ dataDir }, {}).backups
      return daily
        ? [{ status: 'ok', message: 'There is none yet; the server writes the first one two minutes after its start.' }]
        : [{ status: 'warning', message: 'There is none, and config.json turns the daily one off.', hint }]
    }
    const details = { file: newest.file, at: newest.at.toISOString() }
    const message = `The newest one is ${ago(details.at)} old: ${newest.file}`
    return Date.now() - newest.at.getTime() > OLD_MS
      ? [{ status: 'warning', message, hint, details }]
      : [{ status: 'ok', message, details }]
  },
}
