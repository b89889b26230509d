import { Command } from 'commander'
import { dataDirOf } from '../../platform/config.ts'
import { readServerInfo, readServerKeys } from '../../platform/database/server-info.ts'
import { createClient } from '../connection/client.ts'
import { CliError, EXIT } from '../connection/exit-codes.ts'
import { localTime, print, printJson } from './command/output.ts'

interface ResetOptions {
  dataDir?: string
  json?: boolean
}

export const resetPasswordCommand = () =>
  new Command('reset-password')
    .description('Create a password-reset link for a person (authenticated mode).')
    .argument('<email>', 'the e-mail address of the account')
    .option('--data-dir <folder>', "the server's data directory (default: SERVICE_HOME)")
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The server must be running, and you must be able to read its data directory. The link works once. It expires after
an hour, or when the server stops. Give it to that person only. Using it ends all sessions of that person.

Examples:
  $ service reset-password ada@example.com
  $ service reset-password ada@example.com --data-dir ./data`,
    )
    .action(resetPassword)

async function resetPassword(email: string, options: ResetOptions): Promise<void> {
  const dataDir = dataDirOf(options, process.env)
  const info = readServerInfo(dataDir)
  if (!info?.url) {
    throw new CliError(
      EXIT.unreachable,
      `No server is running with the data directory ${dataDir}. Start it with \`service start --mode authenticated\` and repeat this command.`,
    )
  }
  const { resetKey } = readServerKeys(dataDir)
  if (resetKey === undefined) {
    throw new CliError(EXIT.usage, `The server at ${info.url} has no accounts: it runs in local trusted mode.`)
  }
  const made = await createClient({ url: info.url }).request('POST /api/auth/reset-links', {
    body: { key: resetKey, email },
  })
  if (options.json) printJson(made)
  else
    print(
      `${made.url}\nWith this link, ${email} can set a new password. It works once and expires at ${localTime(made.expiresAt)}.`,
    )
}
