import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { Command, Option } from 'commander'
import type { AccessContext } from '../../access/auth/sign-in.ts'
import { urlForPeople } from '../../http/proxy.ts'
import { listCompanyIds } from '../../organization/company/queries.ts'
import { type Config, DEFAULT_PORT, type Flags, readConfig } from '../../platform/config.ts'
import { LOG_LEVELS } from '../../platform/log-entry.ts'
import { CliError, EXIT, lineOf } from '../connection/exit-codes.ts'
import { createProgress } from './backup.ts'
import { programName } from './command/as-started.ts'
import { openBrowser } from './command/browser.ts'
import { paint, print } from './command/output.ts'
import type { RunServer, ServerEnd } from './server-process.ts'

interface StartOptions extends Flags {
  open?: boolean
  demo?: boolean
  from?: string
  json?: boolean
}

/** @param loadServer loads the function that starts the server in this process */
export const startCommand = (loadServer: () => Promise<RunServer>) =>
  new Command('start')
    .description('Start the server. It runs until Ctrl-C.')
    .option('-p, --port <port>', `the port (default: ${DEFAULT_PORT}, or the next free one)`)
    .option('--host <address>', 'the address to listen on (default: 127.0.0.1)')
    .option('--data-dir <folder>', 'the data directory (default: SERVICE_HOME, or your user data folder)')
    .option('--mode <mode>', 'local_trusted or authenticated (default: local_trusted)')
    .option('--allowed-host <name...>', 'another host name that requests may use')
    .option('--trust-proxy', 'trust X-Forwarded-* of a reverse proxy with https (authenticated mode)')
    .option(
      '--require-token',
      'admit only the browser that opens the printed link, and commands of this user (local trusted mode)',
    )
    .option('--from <backup>', 'show a backup instead of a data directory; needs --read-only')
    .option('--read-only', 'refuse every change and start no agent')
    .option(
      '--sandbox <mode>',
      'the isolation of runs: off (default) or bubblewrap (Linux); an agent may have its own setting',
    )
    .addOption(new Option('--log-level <level>', 'the least level of the log (default: info)').choices(LOG_LEVELS))
    .option('--new', 'create an empty database although the data directory contains the keys of another one')
    .option('--open', 'open the page in the browser')
    .option('--demo', 'create a demo company if there is no company')
    .option('--json', 'print one line of JSON when the server is ready')
    .addHelpText('after', '\nExamples:\n  $ service start\n  $ service start --port 8080 --data-dir ./data --open')
    .action(async (options: StartOptions) => start(options, await loadServer()))

async function start(options: StartOptions, runServer: RunServer): Promise<void> {
  if (options.from === undefined) return serve(options, runServer)
  if (!options.readOnly) throw new CliError(EXIT.usage, 'A backup can only be viewed: add --read-only to --from.')
  if (options.dataDir !== undefined) throw new CliError(EXIT.usage, 'Use --from or --data-dir, not both.')
  const { extractForViewing } = await import('../backup/restore.ts')
  const backup = await extractForViewing(path.resolve(options.from), createProgress())
  try {
    await serve({ ...options, dataDir: backup.dataDir }, runServer)
  } finally {
    backup.remove()
  }
}

async function serve(options: StartOptions, runServer: RunServer): Promise<void> {
  const config = readConfig(options, process.env)
  if (options.demo && (config.mode === 'authenticated' || config.requireToken)) {
    throw new CliError(EXIT.usage, '--demo requires local trusted mode without --require-token.')
  }
  const server = await runServer(config)
  const { url, ctx } = server
  const link = linkOf(url, server.ctx)
  if (options.json) {
    const displayed = { url, dataDir: config.dataDir, pid: process.pid, mode: config.mode }
    print(JSON.stringify({ ...displayed, ...(link !== undefined && { link }) }))
  } else {
    print(banner(url, link, config, listCompanyIds(ctx.db).length > 0))
  }
  if (options.demo) {
    const { seedDemoCompany } = await import('../demo/seed.ts')
    const seeded = await server.during(() => seedDemoCompany({ url, dataDir: config.dataDir }))
    if (seeded)
      ctx.log.info(
        `The company ${seeded.name} is created. Its CEO will request your approval: open ${url}, or run ${programName()} approval list.`,
      )
  }
  if (options.open)
    openBrowser(link === undefined ? url : writeRedirectPage(link, config), (error) =>
      ctx.log.warn(`The browser could not be opened: ${lineOf(error)}`),
    )
  const end = await server.ended
  if (!options.json) print(endLine(end))
}

function endLine({ liveRuns, wereStopped }: ServerEnd): string {
  const runs = liveRuns === 1 ? '1 run' : `${liveRuns} runs`
  if (liveRuns === 0) return 'The server has stopped. No run was live.'
  return wereStopped
    ? `The server has stopped, and it stopped ${runs}.`
    : `The server has stopped. ${runs} ${liveRuns === 1 ? 'continues' : 'continue'}; the next start adopts ${liveRuns === 1 ? 'it' : 'them'}.`
}

/** Returns the link that the server prints at its start: for --require-token, or for the first owner. It works once. */
function linkOf(url: string, ctx: AccessContext): string | undefined {
  if (ctx.config.mode === 'local_trusted') {
    const token = ctx.signIn.local.link?.token
    return token && `${url}/enter?token=${token}`
  }
  return ctx.signIn.setup?.token && `${urlForPeople(ctx.config, url)}/setup?token=${ctx.signIn.setup.token}`
}

function banner(url: string, link: string | undefined, config: Config, hasCompanies: boolean): string {
  const moved = config.portGiven || Number(new URL(url).port) === config.port ? '' : ` (port ${config.port} is busy)`
  const mode =
    config.mode === 'authenticated'
      ? ': sign in first'
      : config.requireToken
        ? ': the browser that opens the link below has the rights of the board'
        : ': everyone on this machine has the rights of the board'
  return [
    `${paint('strong', `service ${config.version}`)} is running. Ctrl-C stops it${config.readOnly ? '' : ' and its runs'}.`,
    `  URL   ${paint('busy', url)}${moved}`,
    `  Data  ${config.dataDir}${config.readOnly ? ' (read-only: no changes, no runs)' : ''}`,
    `  Mode  ${config.mode}${mode}`,
    `  Next  ${link === undefined ? nextStep(url, config, hasCompanies) : `open ${paint('busy', link)} (it works once)`}`,
  ].join('\n')
}

function nextStep(url: string, { mode, readOnly }: Config, hasCompanies: boolean): string {
  if (mode === 'authenticated') return `open ${paint('busy', `${url}/login`)} in your browser and sign in`
  return `open ${paint('busy', url)} in your browser${hasCompanies || readOnly ? '' : ' and create a company'}`
}

/**
 * Writes a page, readable only by this user, that redirects to a link. Every
 * process of the machine could read the link if it were an argument of a program.
 *
 * @returns the URL of the page
 */
function writeRedirectPage(link: string, { dataDir }: Config): string {
  const file = path.join(dataDir, 'keys', 'open.html')
  rmSync(file, { force: true })
  writeFileSync(file, `<!doctype html><meta http-equiv="refresh" content="0;url=${link}">`, { mode: 0o600, flag: 'wx' })
  return pathToFileURL(file).href
}
