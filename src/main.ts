import { Command, CommanderError } from 'commander'
import { apiCommand } from './cli/api.ts'
import { demoCommand } from './cli/demo.ts'
import { demoAgentCommand } from './cli/demo-agent.ts'
import { doctorCommand } from './cli/doctor.ts'
import { EXIT, exitCodeOf, lineOf } from './cli/exit-codes.ts'
import { freezeCommand, thawCommand } from './cli/freeze.ts'
import { startCommand } from './cli/start.ts'
import { statusCommand } from './cli/status.ts'
import { stopCommand } from './cli/stop.ts'
import { verifyCommand } from './cli/verify.ts'
import { packageVersion } from './config.ts'

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
  $ service status                   say what the server has
  $ service api GET /api/companies   ask the API anything

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 no server, 4 not allowed, 5 not found,
6 conflict, 7 needs an approval or a budget, 8 took too long, 75 another server has the data directory.`,
  )
  .showHelpAfterError('(service --help lists what there is)')
  .exitOverride()

const commands = [
  startCommand,
  demoCommand,
  statusCommand,
  stopCommand,
  freezeCommand,
  thawCommand,
  apiCommand,
  doctorCommand,
  verifyCommand,
]
for (const command of commands) program.addCommand(command().exitOverride().showHelpAfterError(false))
program.addCommand(demoAgentCommand().exitOverride(), { hidden: true })

try {
  if (process.argv.length === 2) program.outputHelp()
  else await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has said what is wrong already; help and version are no error.
    process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage
  } else {
    process.stderr.write(`service: ${lineOf(error)}\n`)
    process.exitCode = exitCodeOf(error)
  }
}
