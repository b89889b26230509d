import { existsSync } from 'node:fs'
import path from 'node:path'
import { isSea } from 'node:sea'
import { Command } from 'commander'
import { dataDirOf, packageVersion } from '../../platform/config.ts'
import { packageRoot } from '../../platform/package-root.ts'
import { CliError, EXIT } from '../connection/exit-codes.ts'
import { asStarted } from './command/as-started.ts'
import { print, printJson } from './command/output.ts'

interface UpgradeOptions {
  check?: boolean
  dryRun?: boolean
  registry: string
  dataDir?: string
  json?: boolean
}

export const upgradeCommand = () =>
  new Command('upgrade')
    .description('Show how to upgrade. It changes nothing itself.')
    .option('--check', 'ask the npm registry whether there is a newer version')
    .option('--dry-run', 'migrate a copy of the database, and show the steps with their time')
    .option(
      '--registry <url>',
      'the registry for --check',
      process.env.npm_config_registry || 'https://registry.npmjs.org',
    )
    .option('--data-dir <folder>', 'the data directory (default: SERVICE_HOME)')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Only --check uses the network.

Examples:
  $ service upgrade
  $ service upgrade --dry-run`,
    )
    .action(upgrade)

async function upgrade(options: UpgradeOptions): Promise<void> {
  if (options.check && options.dryRun) throw new CliError(EXIT.usage, 'Use --check or --dry-run, not both.')
  if (options.check) return check(options)
  if (options.dryRun) return dryRun(options)
  const { npmName } = await import('../upgrade/newest-version.ts')
  print(asStarted(['service backup', 'service stop', howToInstall(npmName()), 'service start'].join('\n')))
}

async function check({ registry, json }: UpgradeOptions): Promise<void> {
  const { compareVersions, fetchNewestVersion, npmName } = await import('../upgrade/newest-version.ts')
  const installed = packageVersion()
  const newest = await fetchNewestVersion(registry)
  const isNewer = compareVersions(newest, installed) > 0
  if (json) printJson({ installed, newest, isNewer })
  else if (isNewer) print(`${newest} is available; this is ${installed}. To upgrade: ${howToInstall(npmName())}`)
  else print(`${installed} is the newest version.`)
}

/** The command that replaces the program, by the way it was installed. */
function howToInstall(name: string): string {
  if (isSea()) return 'replace the executable by the new one'
  const isCheckout = existsSync(path.join(packageRoot(), 'src', 'main.ts'))
  return isCheckout ? 'git pull && npm ci' : `npm install --global ${name}@latest`
}

async function dryRun({ json, ...options }: UpgradeOptions): Promise<void> {
  const { rehearseMigration } = await import('../upgrade/dry-run.ts')
  const rehearsed = await rehearseMigration(dataDirOf(options, process.env))
  if (json) return printJson(rehearsed)
  const { fromSchema, toSchema, bytes, steps } = rehearsed
  if (steps.length === 0)
    return print(`Nothing to migrate: the database has schema ${toSchema}, which this version uses.`)
  const total = steps.reduce((sum, { ms }) => sum + ms, 0)
  print(
    [
      `The next start migrates the database (${(bytes / 1024 / 1024).toFixed(1)} MB) from schema ${fromSchema} to ${toSchema}, in about ${seconds(total)}:`,
      ...steps.map(({ summary, ms }) => `  ${seconds(ms).padStart(8)}  ${summary}`),
      'This was tried on a copy. The database was not changed.',
    ].join('\n'),
  )
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`
