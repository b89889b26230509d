import { Command } from 'commander'
import { dataDirOf } from '../../platform/config.ts'
import { readServerInfo } from '../../platform/database/server-info.ts'
import { createClient } from './client.ts'
import { CliError, EXIT } from './exit-codes.ts'
import { print, printJson } from './output.ts'

interface ResetOptions {
  dataDir?: string
  json?: boolean
}

export const resetPasswordCommand = () =>
  new Command('reset-password')
    .description('Make a link by which a person sets another password, where people sign in.')
    .argument('<email>', 'of the account')
    .option('--data-dir <folder>', "the server's data directory (default: SERVICE_HOME)")
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The server has to be up, and only who can read its data directory may do this. The link works once, for an hour,
until the server ends. Give it to the person only: using it ends every session of theirs.

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
      `No server has the data directory ${dataDir}. Start it with \`service start --mode authenticated\`, then ask again.`,
    )
  }
  if (info.resetKey === undefined) {
    throw new CliError(EXIT.usage, `Nobody signs in at ${info.url}: it runs in local trusted mode, without accounts.`)
  }
  const made = await createClient({ url: info.url }).request('POST', '/api/auth/reset-links', {
    key: info.resetKey,
    email,
  })
  if (options.json) printJson(made)
  else print(`${made.url}\nIt works once, until ${made.expiresAt}, for ${email} to set another password.`)
}
