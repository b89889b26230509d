import { Command } from 'commander'
import { type ConnectionOptions, withConnection } from '../connection/connect.ts'
import { CliError, EXIT } from '../connection/exit-codes.ts'
import { checkData } from '../database-check/check-data.ts'
import { plain, print, printJson } from './command/output.ts'

interface VerifyOptions extends ConnectionOptions {
  noted?: string
  json?: boolean
}

export const verifyCommand = () =>
  withConnection(new Command('verify'))
    .description('Verify that no entry of the activity was altered or removed.')
    .option('--noted <hash>', 'the last hash of an earlier check, which must still exist')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Each entry contains the hash of the previous one. Store the last hash outside the database: while it still
exists, no earlier entry was altered, removed or rewritten.

Examples:
  $ service verify
  $ service verify --noted 9hL2...
  $ service verify --json --data-dir ./data`,
    )
    .action(verify)

async function verify(options: VerifyOptions): Promise<void> {
  const { ok, findings, activityHeads } = await checkData(options, { only: ['activity_chain'], noted: options.noted })
  if (options.json) printJson({ ok, findings, activityHeads })
  else {
    for (const { companyName, entries, hash } of activityHeads)
      print(`${plain(companyName)}: ${entries} entries, last hash ${hash}`)
    for (const finding of findings) print(plain(finding.message))
    if (ok) print('The activity is complete and unaltered.')
  }
  if (!ok)
    throw new CliError(
      EXIT.failure,
      `The activity was altered: ${findings.length} ${findings.length === 1 ? 'finding' : 'findings'}.`,
    )
}
