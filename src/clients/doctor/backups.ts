import { existsSync } from 'node:fs'
import path from 'node:path'
import { readConfig } from '../../platform/config.ts'
import { backupFolder, newestBackup } from '../backup/schedule.ts'
import { ago } from '../cli/command/output.ts'
import type { Check } from './check.ts'

const DAY_MS = 86_400_000

/** The age of the newest backup from which a warning appears, in milliseconds. */
const OLD_MS = 7 * DAY_MS

/** Checks the age of the newest backup in the default folder. It does not know backups in other folders. */
export const backupsCheck: Check = {
  id: 'backups',
  title: 'Backups',
  run({ dataDir }) {
    if (!existsSync(path.join(dataDir, 'service.db')))
      return [{ status: 'ok', message: 'There is no data to back up yet.' }]
    const newest = newestBackup(backupFolder(dataDir))
    const hint = 'Run `service backup` to create one now.'
    if (!newest) {
      const { daily } = readConfig({ dataDir }, {}).backups
      return daily
        ? [
            {
              status: 'ok',
              message: 'There is no backup yet. The server creates the first one two minutes after its start.',
            },
          ]
        : [{ status: 'warning', message: 'There is no backup, and config.json turns the daily backup off.', hint }]
    }
    const details = { file: newest.file, at: newest.at.toISOString() }
    const message = `The newest backup is ${ago(details.at)} old: ${newest.file}`
    return Date.now() - newest.at.getTime() > OLD_MS
      ? [{ status: 'warning', message, hint, details }]
      : [{ status: 'ok', message, details }]
  },
}
