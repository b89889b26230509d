import { Command } from 'commander'
import { type Config, dataDirOf, packageVersion, readConfig } from '../../platform/config.ts'
import { type ConnectionOptions, withConnection } from '../connection/connect.ts'
import { CliError, EXIT, lineOf } from '../connection/exit-codes.ts'
import type { CheckProgress } from '../database-check/database-check.ts'
import type { Result } from '../doctor/check.ts'
import type { Fix } from '../doctor/fix.ts'
import { asStarted } from './command/as-started.ts'
import { oneLine, paint, print, printJson } from './command/output.ts'

interface DoctorOptions extends ConnectionOptions {
  deep?: boolean
  fix?: boolean
  json?: boolean
}

export const doctorCommand = () =>
  withConnection(new Command('doctor'))
    .description('Check the machine, the data directory and the database, and print how to repair each problem.')
    .option('--deep', 'also recompute every total, search index and hash, which takes longer')
    .option('--fix', 'first repair what is safe: permissions, and files that killed processes left')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  $ service doctor\n  $ service doctor --fix\n  $ service doctor --deep --json --data-dir ./data\n\nExit codes: 0 no check is broken, 1 at least one is.',
    )
    .action(doctor)

async function doctor(options: DoctorOptions): Promise<void> {
  const fixes = options.fix ? await fix(options) : undefined
  const results = await runAllChecks(options)
  const broken = results.filter((result) => result.status === 'broken').length
  if (options.json) printJson({ ok: broken === 0, version: packageVersion(), ...(fixes && { fixes }), checks: results })
  else print([...(fixes ? describeFixes(fixes) : []), describe(results)].join('\n'))
  if (broken > 0) throw new CliError(EXIT.failure, `${broken} of ${results.length} checks are broken.`)
}

/** Repairs the data directory of this machine. The data of another server cannot be repaired from here. */
async function fix(options: DoctorOptions): Promise<Fix[]> {
  if (options.url !== undefined)
    throw new CliError(EXIT.usage, '--fix repairs the data directory of this machine. Omit --url.')
  const { fixAll } = await import('../doctor/fix.ts')
  return fixAll(dataDirOf(options, process.env))
}

const describeFixes = (fixes: readonly Fix[]): string[] =>
  fixes.length === 0
    ? ['Nothing was repaired.']
    : fixes.map(({ message }) => `${paint('good', 'fixed'.padEnd(7))}  ${oneLine(message)}`)

/** Runs all checks. Invalid settings prevent all other checks, and a broken database prevents the check of its content. */
async function runAllChecks(options: DoctorOptions): Promise<Result[]> {
  const [{ runChecks }, { CHECKS }, { contentCheck }] = await Promise.all([
    import('../doctor/check.ts'),
    import('../doctor/checks.ts'),
    import('../doctor/content.ts'),
  ])
  let config: Config
  try {
    config = readConfig(options.dataDir === undefined ? {} : { dataDir: options.dataDir }, process.env)
  } catch (error) {
    return [{ id: 'settings', title: 'Settings', status: 'broken', message: lineOf(error) }]
  }
  const results = await runChecks(config, CHECKS)
  const hasContent = results.some(
    ({ id, status, details }) => id === 'database' && status !== 'broken' && details?.bytes,
  )
  if (!hasContent && options.url === undefined) return results
  return [
    ...results,
    ...(await runChecks(config, [contentCheck(options, { deep: options.deep ?? false, onProgress: showProgress })])),
  ]
}

/** Displays the current check: one line on a terminal, which the next one replaces. */
function showProgress({ check, step, steps }: CheckProgress): void {
  if (!process.stderr.isTTY) return
  process.stderr.write(
    `\r\x1b[KChecking ${check.replaceAll('_', ' ')} (${step} of ${steps})${step < steps ? '' : '\r\x1b[K'}`,
  )
}

const MARKS = { ok: ['good', 'ok'], warning: ['waiting', 'warning'], broken: ['bad', 'broken'] } as const

function describe(results: readonly Result[]): string {
  const width = Math.max(...results.map((result) => result.title.length))
  return results
    .flatMap(({ status, title, message, hint }, i) => {
      const [meaning, mark] = MARKS[status]
      const displayed = results[i - 1]?.title === title ? '' : title
      const line = `${paint(meaning, mark.padEnd(7))}  ${displayed.padEnd(width)}  ${oneLine(message)}`
      return hint ? [line, `${' '.repeat(width + 11)}${asStarted(oneLine(hint))}`] : [line]
    })
    .join('\n')
}
