import path from 'node:path'
import { Command, Option } from 'commander'
import { readConfig } from '../../platform/config.ts'
import type { OnProgress } from '../backup/check.ts'
import { print, printJson } from './command/output.ts'

interface BackupOptions {
  dataDir?: string
  out?: string
  withKeys?: boolean
  scheduled?: boolean
  json?: boolean
}

export const backupCommand = () =>
  new Command('backup')
    .description('Create and check a backup of the data directory. The server may be running.')
    .option('-o, --out <file>', 'the archive to write (default: in the folder backups of the data directory)')
    .option('--with-keys', 'include the keys; anyone with this archive can then read all secrets')
    .option('--data-dir <folder>', 'the data directory (default: SERVICE_HOME)')
    .addOption(new Option('--scheduled', 'write the backup of today and delete expired ones').hideHelp())
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The archive contains the database, uploaded files, skills, the agents' own folders and config.json.
It does not contain the logs of runs. Store a copy of the folder keys/ elsewhere: without it (or --with-keys),
the secrets in a backup are unreadable on another machine.

Examples:
  $ service backup
  $ service backup --out /mnt/usb/service.tar.gz --with-keys
  $ service restore /mnt/usb/service.tar.gz`,
    )
    .action(backup)

async function backup(options: BackupOptions): Promise<void> {
  const { dataDir, backups } = readConfig(
    options.dataDir === undefined ? {} : { dataDir: options.dataDir },
    process.env,
  )
  const [{ createBackup }, { backupFolder, backupName, dailyName, deleteExpired }] = await Promise.all([
    import('../backup/create.ts'),
    import('../backup/schedule.ts'),
  ])
  process.umask(0o077)
  const now = new Date()
  const folder = backupFolder(dataDir)
  const out = options.out
    ? path.resolve(options.out)
    : path.join(folder, options.scheduled ? dailyName(now) : backupName(now))
  const made = await createBackup({
    dataDir,
    out,
    withKeys: options.withKeys ?? false,
    now,
    onProgress: createProgress(),
  })
  if (options.scheduled) deleteExpired(folder, backups)
  const { manifest, companies, issues, file, bytes } = made
  if (options.json) {
    const { createdAt, version, schema, hasKeys } = manifest
    printJson({ file, bytes, companies, issues, createdAt, version, schema, hasKeys })
    return
  }
  print(`${file}: ${megabytes(bytes)}, ${contents(made)}, checked.`)
  if (!manifest.hasKeys)
    print('It does not contain the keys. To read its secrets on another machine, store a copy of the folder keys/ too.')
}

/** Describes the content of a backup: `2 companies, 14 issues`. */
export const contents = ({ companies, issues }: { companies: number; issues: number }): string =>
  `${companies} ${companies === 1 ? 'company' : 'companies'}, ${issues} ${issues === 1 ? 'issue' : 'issues'}`

const megabytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MB`

/** Creates a progress display: one line on a terminal, which each step replaces. */
export function createProgress(): OnProgress {
  let displayed = ''
  return (step, done) => {
    const line = `${step}: ${Math.floor(done * 100)} %`
    if (!process.stderr.isTTY || line === displayed) return
    displayed = line
    process.stderr.write(`\r\x1b[K${line}${step === 'checking the database' && done >= 1 ? '\r\x1b[K' : ''}`)
  }
}
