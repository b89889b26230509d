import { Command } from 'commander'
import { type Config, packageVersion, readConfig } from '../../platform/config.ts'
import { type ConnectionOptions, withConnection } from '../connection/connect.ts'
import { CliError, EXIT, lineOf } from '../connection/exit-codes.ts'
import type { CheckProgress } from '../database-check/database-check.ts'
import type { Result } from '../doctor/check.ts'
import { oneLine, paint, print, printJson } from './command/output.ts'

interface DoctorOptions extends ConnectionOptions {
  deep?: boolean
  json?: boolean
}

export const doctorCommand = () =>
  withConnection(new Command('doctor'))
    .description('Say whether everything that a server needs is there and in order, and what to do where it is not.')
    .option('--deep', 'recompute every total, search index and hash too, which takes longer')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  $ service doctor\n  $ service doctor --deep --json --data-dir ./data\n\nExit codes: 0 nothing is broken, 1 something is.',
    )
    .action(doctor)

async function doctor(options: DoctorOptions): Promise<void> {
  const results = await examineAll(options)
  const broken = results.filter((result) => result.status === 'broken').length
  if (options.json) printJson({ ok: broken === 0, version: packageVersion(), checks: results })
  else print(describe(results))
  if (broken > 0) throw new CliError(EXIT.failure, `${broken} of ${results.length} checks found something broken.`)
}

/** Settings that cannot be read stand in the way of everything else, and a database of its content. */
async function examineAll(options: DoctorOptions): Promise<Result[]> {
  const [{ examine }, { CHECKS }, { contentCheck }] = await Promise.all([
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
  const results = await examine(config, CHECKS)
  const hasContent = results.some(
    ({ id, status, details }) => id === 'database' && status !== 'broken' && details?.bytes,
  )
  if (!hasContent && options.url === undefined) return results
  return [
    ...results,
    ...(await examine(config, [contentCheck(options, { deep: options.deep ?? false, onProgress: showProgress })])),
  ]
}

/** Shows the current check on a terminal, in one line that the next one replaces. */
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
      const shown = results[i - 1]?.title === title ? '' : title
      const line = `${paint(meaning, mark.padEnd(7))}  ${shown.padEnd(width)}  ${oneLine(message)}`
      return hint ? [line, `${' '.repeat(width + 11)}${oneLine(hint)}`] : [line]
    })
    .join('\n')
}
