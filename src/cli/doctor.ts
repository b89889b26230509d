import { statSync } from 'node:fs'
import { Command } from 'commander'
import { dataDirOf } from '../config.ts'
import { CHECKS, type CheckName, type Finding } from '../database/check.ts'
import { checkData } from './check.ts'
import { type ConnectionOptions, withConnection } from './connection.ts'
import { CliError, EXIT } from './exit-codes.ts'
import { print, printJson } from './output.ts'

interface DoctorOptions extends ConnectionOptions {
  deep?: boolean
  json?: boolean
}

/** What takes no time to speak of, however much there is. */
const QUICK: readonly CheckName[] = ['foreign_keys', 'issue_counts', 'run_totals']

export const doctorCommand = () =>
  withConnection(new Command('doctor'))
    .description('Look whether the data directory is in order.')
    .option('--deep', 'recompute every total, search index and hash too, which takes longer')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  $ service doctor\n  $ service doctor --deep --data-dir ./data')
    .action(doctor)

async function doctor(options: DoctorOptions): Promise<void> {
  const { checks, findings } = await checkData(options, { only: options.deep ? CHECKS : QUICK })
  const all: { check: string; message: string }[] = [...openToOthers(options), ...findings]
  if (options.json) printJson({ ok: all.length === 0, checks: ['data_dir', ...checks], findings: all })
  else {
    for (const check of ['data_dir', ...checks]) {
      const wrong = all.filter((finding) => finding.check === check)
      print(`${wrong.length === 0 ? 'ok   ' : 'WRONG'} ${check.replaceAll('_', ' ')}`)
      for (const { message } of wrong) print(`      ${message}`)
    }
  }
  if (all.length > 0) throw new CliError(EXIT.failure, `${all.length} findings.`)
}

/** The directory holds keys, so nobody else may look into it. */
function openToOthers(options: ConnectionOptions): (Omit<Finding, 'check'> & { check: string })[] {
  if (options.url !== undefined) return []
  const dataDir = dataDirOf(options, process.env)
  const mode = statSync(dataDir, { throwIfNoEntry: false })?.mode
  if (mode === undefined || process.platform === 'win32' || (mode & 0o077) === 0) return []
  const message = `${dataDir} is open to other users of this machine (${(mode & 0o777).toString(8)}): chmod 700 it.`
  return [{ check: 'data_dir', message }]
}
