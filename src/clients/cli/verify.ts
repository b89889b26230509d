import { Command } from 'commander'
import { type ConnectionOptions, withConnection } from '../connection/connect.ts'
import { CliError, EXIT } from '../connection/exit-codes.ts'
import { checkData } from '../database-check/check-data.ts'
import { print, printJson } from './command/output.ts'

interface VerifyOptions extends ConnectionOptions {
  noted?: string
  json?: boolean
}

export const verifyCommand = () =>
  withConnection(new Command('verify'))
    .description('Prove that no entry of the activity was altered or removed.')
    .option('--noted <hash>', 'a last hash that an earlier run printed, which must still be there')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Each entry carries the hash of the one before it. Note the last hash somewhere else: as long as it is
still there, nothing before it was altered, removed or written anew.

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
    for (const { companyId, entries, hash } of activityHeads)
      print(`company ${companyId}: ${entries} entries, last hash ${hash}`)
    for (const finding of findings) print(finding.message)
    if (ok) print('The activity is whole.')
  }
  if (!ok) throw new CliError(EXIT.failure, `The activity is not whole: ${findings.length} findings.`)
}
