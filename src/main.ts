import { Command, CommanderError } from 'commander'
import { apiCommand } from './clients/cli/api.ts'
import { backupCommand } from './clients/cli/backup.ts'
import { completionCommand } from './clients/cli/completion.ts'
import { demoCommand } from './clients/cli/demo.ts'
import { demoAgentCommand } from './clients/cli/demo-agent.ts'
import { doctorCommand } from './clients/cli/doctor.ts'
import { freezeCommand, thawCommand } from './clients/cli/freeze.ts'
import { logsCommand } from './clients/cli/logs.ts'
import { mcpCommand } from './clients/cli/mcp.ts'
import { NOUNS } from './clients/cli/nouns.ts'
import { resetPasswordCommand } from './clients/cli/reset-password.ts'
import { restoreCommand } from './clients/cli/restore.ts'
import { startCommand } from './clients/cli/start.ts'
import { statusCommand } from './clients/cli/status.ts'
import { stopCommand } from './clients/cli/stop.ts'
import { verifyCommand } from './clients/cli/verify.ts'
import { waitCommand } from './clients/cli/wait.ts'
import { whyCommand } from './clients/cli/why.ts'
import { EXIT, exitCodeOf, lineOf } from './clients/connection/exit-codes.ts'
import { packageVersion } from './platform/config.ts'

const loadServer = async () => (await import('./run-server.ts')).runServer

const COMMANDS = [
  () => startCommand(loadServer),
  () => demoCommand(loadServer),
  statusCommand,
  stopCommand,
  freezeCommand,
  thawCommand,
  doctorCommand,
  verifyCommand,
  backupCommand,
  restoreCommand,
  logsCommand,
  mcpCommand,
  resetPasswordCommand,
]
const CLIENT_COMMANDS = [whyCommand, waitCommand, apiCommand]

/** @param isAsked which of the nouns are to be there with all their verbs; the others are there by name */
async function createProgram(isAsked: (noun: string) => boolean): Promise<Command> {
  const program = new Command('service')
    .description('The control plane that organizations of AI agents run on.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .addHelpText(
      'after',
      `
Examples:
  $ service start                    start the server and leave it up
  $ service demo                     watch a company of five agents do its work, without a model
  $ service company new --template software-team
  $ service issue list               list what is to be done
  $ service why TER-6                tell what happened on an issue, and why
  $ service api GET /api/companies   ask the API anything

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 no server, 4 not allowed, 5 not found,
6 conflict, 7 needs an approval or a budget, 8 took too long, 75 another server has the data directory.`,
    )
    .showHelpAfterError('(service --help lists what there is)')
  for (const command of COMMANDS) program.addCommand(command())
  for (const { name, description, load } of NOUNS) {
    program.addCommand(isAsked(name) ? await load() : new Command(name).description(description))
  }
  for (const command of CLIENT_COMMANDS) program.addCommand(command())
  program.addCommand(completionCommand(() => createProgram(() => true)))
  program.addCommand(demoAgentCommand(), { hidden: true })
  endQuietly(program)
  return program
}

/** Lets commander throw instead of ending the process, at every depth. */
function endQuietly(command: Command): void {
  command.exitOverride()
  for (const one of command.commands) endQuietly(one.showHelpAfterError(false))
}

/**
 * Bears that nobody reads the output any more, as behind `| head` or in a
 * terminal that is gone: a server goes on without, since its log is in a file
 * too, and any other command has nobody left to tell.
 */
function handleBrokenPipe(isServer: boolean): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error
      if (!isServer) process.exit(EXIT.ok)
    })
  }
}

try {
  const given = process.argv.slice(2)
  handleBrokenPipe(given[0] === 'start' || given[0] === 'demo')
  const program = await createProgram((noun) => given[0] === noun || (given[0] === 'help' && given[1] === noun))
  if (given.length === 0) program.outputHelp()
  else await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has said what is wrong already; help and version are no error.
    process.exitCode = error.exitCode === 0 || error.code === 'commander.help' ? EXIT.ok : EXIT.usage
  } else {
    process.stderr.write(`service: ${lineOf(error)}\n`)
    process.exitCode = exitCodeOf(error)
  }
}
