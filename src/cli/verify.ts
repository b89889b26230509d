import { Command } from 'commander'
import { checkData } from './check.ts'
import { type ConnectionOptions, withConnection } from './connection.ts'
import { CliError, EXIT } from './exit-codes.ts'
import { print, printJson } from './output.ts'

interface VerifyOptions extends ConnectionOptions {
  json?: boolean
}

export const verifyCommand = () =>
  withConnection(new Command('verify'))
    .description('Prove that no entry of the activity was altered or removed.')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Each entry carries the hash of the one before it. Note the last hash elsewhere: as long as a later
run still counts at least as many entries and finds nothing, nothing before it was changed.

Examples:
  $ service verify
  $ service verify --json --data-dir ./data`,
    )
    .action(verify)

async function verify(options: VerifyOptions): Promise<void> {
  const { ok, findings, activityHeads } = await checkData(options, ['activity_chain'])
  if (options.json) printJson({ ok, findings, activityHeads })
  else {
    for (const { companyId, entries, hash } of activityHeads)
      print(`company ${companyId}: ${entries} entries, last hash ${hash}`)
    for (const finding of findings) print(finding.message)
    if (ok) print('The activity is whole.')
  }
  if (!ok) throw new CliError(EXIT.failure, `The activity is not whole: ${findings.length} findings.`)
}
