import { Command, CommanderError } from 'commander'
import { asStarted, programName } from './clients/cli/command/as-started.ts'
import { configureUsage } from './clients/cli/command/usage.ts'
import { addDefaultVerb, moveGlobalOptions } from './clients/cli/command-line.ts'
import { commandsOf } from './clients/cli/commands.ts'
import { EXIT, exitCodeOf, lineOf } from './clients/connection/exit-codes.ts'
import { packageVersion } from './platform/config.ts'

const loadServer = async () => (await import('./run-server.ts')).runServer

/**
 * Creates the command line.
 *
 * @param isUsed whether to load the options and verbs of a command; the others have only a name and a description
 */
async function createProgram(isUsed: (name: string) => boolean): Promise<Command> {
  const program = new Command(programName())
    .description('The control plane that organizations of AI agents run on.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .addHelpText(
      'after',
      `
Examples:
  $ service start                    start the server
  $ service demo                     watch a company of five agents work, without a model
  $ service company new --template software-team
  $ service issue create "Draw the tide curve" --assignee Kit
  $ service why TER-6                show what happened on an issue, and why
  $ service api GET /api/companies   send any request to the API

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 no server, 4 not allowed, 5 not found,
6 conflict, 7 needs an approval or a budget, 8 timeout, 75 another server has the data directory, 130 interrupted at a prompt.`,
    )
  for (const { name, description, group, load } of commandsOf(loadServer)) {
    const command = isUsed(name) ? await load() : new Command(name).description(description)
    program.addCommand(command.helpGroup(group))
  }
  if (isUsed('demo-agent')) {
    program.addCommand((await import('./clients/cli/demo-agent.ts')).demoAgentCommand(), { hidden: true })
  }
  program.addHelpCommand(
    new Command('help').argument('[command]').description('print help for a command').helpGroup('Tools:'),
  )
  configureUsage(program)
  return program
}

/**
 * Handles a closed pipe, as with `| head`. A server continues, because its log
 * is also in a file. Any other command ends.
 */
function handleBrokenPipe(isServer: boolean): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error
      if (!isServer) process.exit(EXIT.ok)
    })
  }
}

const words = moveGlobalOptions(process.argv.slice(2))

try {
  handleBrokenPipe(words[0] === 'start' || words[0] === 'demo')
  if (words[0] === '__complete') await printCompletions(words.slice(2))
  else {
    const program = await createProgram((name) => words[0] === name || (words[0] === 'help' && words[1] === name))
    if (words.length === 0) program.outputHelp()
    else await program.parseAsync(addDefaultVerb(program, words), { from: 'user' })
  }
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has printed the error already. Help and version are no errors.
    process.exitCode = error.exitCode === 0 || error.code === 'commander.help' ? EXIT.ok : EXIT.usage
  } else {
    process.stderr.write(`service: ${asStarted(lineOf(error))}\n`)
    process.exitCode = exitCodeOf(error)
  }
}

/** Prints the completions of the last word, for the scripts of `service completion`. */
async function printCompletions(typed: readonly string[]): Promise<void> {
  const { complete } = await import('./clients/cli/completion.ts')
  // The last word is the one to complete, so it stays the last.
  const line = [...moveGlobalOptions(typed.slice(0, -1)), ...typed.slice(-1)]
  const program = await createProgram((name) => name === line[0])
  for (const word of await complete(program, line)) process.stdout.write(`${word}\n`)
}
