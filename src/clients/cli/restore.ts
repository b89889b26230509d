import path from 'node:path'
import { Command } from 'commander'
import { dataDirOf } from '../../platform/config.ts'
import { DataDirTaken } from '../../platform/database/lock.ts'
import { CliError, EXIT } from '../connection/exit-codes.ts'
import { contents, createProgress } from './backup.ts'
import { confirm } from './command/ask.ts'
import { print, printJson } from './command/output.ts'

interface RestoreOptions {
  dataDir?: string
  yes?: boolean
  json?: boolean
}

export const restoreCommand = () =>
  new Command('restore')
    .description('Check a backup and replace the content of a data directory by it.')
    .argument('<file>', 'the archive of service backup')
    .option('--data-dir <folder>', 'the data directory (default: SERVICE_HOME)')
    .option('-y, --yes', 'do not prompt for a confirmation')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The server must be stopped. The command moves the present content of the data directory into a folder there and
does not delete it. To only view a backup: service start --read-only --from FILE

Examples:
  $ service stop && service restore backups/daily-2026-11-22.tar.gz
  $ service restore service.tar.gz --data-dir ./other --yes`,
    )
    .action(restore)

async function restore(file: string, options: RestoreOptions): Promise<void> {
  const dataDir = dataDirOf(options, process.env)
  if (!(await confirm(options, `Replace the content of ${dataDir} by the backup ${file}?`))) return
  const { restoreBackup } = await import('../backup/restore.ts')
  process.umask(0o077)
  const restored = await restoreBackup({
    archive: path.resolve(file),
    dataDir,
    now: new Date(),
    onProgress: createProgress(),
  }).catch((error) => {
    if (error instanceof DataDirTaken) throw new CliError(EXIT.taken, `${error.message} Nothing was restored.`)
    throw error
  })
  const { manifest, companies, issues, keptIn, unreadableSecrets } = restored
  if (options.json) {
    const { createdAt, version, hasKeys } = manifest
    printJson({ dataDir, companies, issues, createdAt, version, hasKeys, keptIn, unreadableSecrets })
    return
  }
  print(`Restored the backup of ${manifest.createdAt}: ${contents(restored)}.`)
  if (keptIn) print(`The previous content is in ${keptIn}.`)
  for (const message of unreadableSecrets) print(message)
  if (unreadableSecrets.length > 0) {
    print(
      `Put the file keys/secret.key of the backed-up server into ${path.join(dataDir, 'keys')}, or set these values again.`,
    )
  }
}
