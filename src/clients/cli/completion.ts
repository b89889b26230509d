import { Argument, Command } from 'commander'
import { print } from './output.ts'

/** @param loadProgram the whole program, with every noun and its verbs */
export const completionCommand = (loadProgram: () => Promise<Command>) =>
  new Command('completion')
    .description('Print the completion of a shell, to be loaded by it.')
    .addArgument(new Argument('<shell>').choices(Object.keys(SCRIPTS)))
    .addHelpText(
      'after',
      `
Examples:
  $ source <(service completion bash)             # in ~/.bashrc
  $ source <(service completion zsh)              # in ~/.zshrc, after compinit
  $ service completion fish | source              # in ~/.config/fish/config.fish`,
    )
    .action(async (shell: keyof typeof SCRIPTS) => print(SCRIPTS[shell](wordsOf(await loadProgram()))))

/** What may follow each path of commands: `['agent', ['list', 'show', ..., '--json']]`. */
type Words = [path: string, next: string[]][]

function wordsOf(command: Command, path: string[] = []): Words {
  const { visibleCommands, visibleOptions } = namesIn(command)
  const here: Words = [[path.join(' '), [...visibleCommands.map((one) => one.name()), ...visibleOptions]]]
  return [...here, ...visibleCommands.flatMap((one) => wordsOf(one, [...path, one.name()]))]
}

function namesIn(command: Command) {
  const help = command.createHelp()
  return {
    visibleCommands: help.visibleCommands(command).filter((one) => one.name() !== 'help'),
    visibleOptions: help.visibleOptions(command).flatMap((option) => option.long ?? []),
  }
}

const caseOf = (words: Words) => words.map(([path, next]) => `    '${path}') words='${next.join(' ')}' ;;`).join('\n')

const SCRIPTS = {
  bash: (words: Words) => `_service() {
  local path='' word words
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] && break
    path="\${path:+$path }$word"
  done
  case "$path" in
${caseOf(words)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _service service`,
  zsh: (words: Words) => `_service() {
  local -a before=("\${(@)words[2,CURRENT-1]}")
  local path_='' word
  for word in "\${(@)before}"; do
    [[ $word == -* ]] && break
    path_="\${path_:+$path_ }$word"
  done
  local words=''
  case "$path_" in
${caseOf(words)}
  esac
  compadd -- \${=words}
}
compdef _service service`,
  fish: (words: Words) =>
    [
      'complete -c service -f',
      ...words.map(([path, next]) => {
        const seen = path === '' ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${path.split(' ').at(-1)}`
        const parents = path
          .split(' ')
          .slice(0, -1)
          .map((one) => `; and __fish_seen_subcommand_from ${one}`)
        return `complete -c service -n '${seen}${parents.join('')}' -a '${next.join(' ')}'`
      }),
    ].join('\n'),
}
