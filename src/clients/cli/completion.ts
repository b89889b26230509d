import { Argument, Command, type Option } from 'commander'
import { NAMED, type Noun } from './command/find.ts'
import { print } from './command/output.ts'
import { createScope, type Options } from './command/scope.ts'

export const completionCommand = () =>
  new Command('completion')
    .description('Print the completion script of a shell.')
    .addArgument(new Argument('<shell>').choices(Object.keys(SCRIPTS)))
    .addHelpText(
      'after',
      `
The script completes commands, options, values, and the names and ids that the server has.

Examples:
  $ source <(service completion bash)             # in ~/.bashrc
  $ source <(service completion zsh)              # in ~/.zshrc, after compinit
  $ service completion fish > ~/.config/fish/completions/service.fish`,
    )
    .action((shell: keyof typeof SCRIPTS) => print(SCRIPTS[shell]))

/** The scripts ask the program: `service __complete -- issue view T` prints what may stand for `T`. */
const SCRIPTS = {
  bash: `_service() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(\${COMP_WORDS[0]} __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
  COMPREPLY=("\${COMPREPLY[@]// /\\\\ }")
}
complete -o default -F _service service`,
  zsh: `_service() {
  local -a found=("\${(@f)$(\${words[1]} __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -- $found
}
compdef _service service`,
  fish: `complete -c service -f -a '(service __complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'`,
}

/**
 * Lists the words that may stand for the last one of a command line.
 *
 * @param words the command line without the program
 */
export async function complete(program: Command, words: readonly string[]): Promise<string[]> {
  const current = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  let command = program
  const args: string[] = []
  let pending: Option | undefined
  for (const word of before) {
    if (pending) pending = undefined
    else if (word.startsWith('-')) pending = command.options.find((option) => takesNext(option, word))
    else {
      const inner = args.length === 0 && command.commands.find((one) => [one.name(), ...one.aliases()].includes(word))
      if (inner) command = inner
      else args.push(word)
    }
  }
  const found = pending
    ? await valuesOf(command, before, pending.argChoices, pending.flags)
    : current.startsWith('-')
      ? command
          .createHelp()
          .visibleOptions(command)
          .flatMap((option) => option.long ?? [])
      : command.commands.length > 0
        ? command
            .createHelp()
            .visibleCommands(command)
            .map((one) => one.name())
            .filter((name) => name !== 'help')
        : await argumentsOf(command, before, args.length)
  return found.filter((one) => one.toLowerCase().startsWith(current.toLowerCase()))
}

const isNamed = (option: Option, word: string) => option.short === word || option.long === word

/** Reports whether the word is this option, and the next word its value. */
const takesNext = (option: Option, word: string) => isNamed(option, word) && (option.required || option.variadic)

async function argumentsOf(command: Command, words: readonly string[], index: number): Promise<string[]> {
  const argument = command.registeredArguments[index]
  return argument ? valuesOf(command, words, argument.argChoices, `<${argument.name()}>`) : []
}

/** The values of an option or argument: its choices, or the names and ids of the noun that its flags name. */
async function valuesOf(
  command: Command,
  words: readonly string[],
  choices: readonly string[] | undefined,
  flags: string,
): Promise<string[]> {
  if (choices) return [...choices]
  const noun = /<([\w-]+)>/.exec(flags)?.[1]
  const load = noun === 'parent' || noun === 'company' ? undefined : NAMED[noun as Noun]
  if (!load && noun !== 'company') return []
  try {
    const scope = createScope(optionsIn(command, words))
    const found =
      noun === 'company'
        ? (await scope.client.request('GET /api/companies')).map(({ id, issuePrefix }) => ({
            id,
            names: [issuePrefix],
          }))
        : await load!(scope.client, (await scope.company()).id)
    return found.map(({ id, names }) => names[0] ?? id.slice(-8))
  } catch {
    return []
  }
}

/** Reads the options that choose the server and the company from an unfinished command line. */
function optionsIn(command: Command, words: readonly string[]): Options {
  const options: Record<string, string> = {}
  words.forEach((word, index) => {
    const option = command.options.find((one) => isNamed(one, word))
    if (option?.required && words[index + 1] !== undefined) options[option.attributeName()] = words[index + 1]!
  })
  return options as Options
}
