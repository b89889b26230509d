import type { Command } from 'commander'

/** The options of every command that may also stand before it, and whether a value follows each. */
const GLOBAL_OPTIONS: Readonly<Record<string, boolean>> = {
  '--url': true,
  '--profile': true,
  '--data-dir': true,
  '--token': true,
  '-c': true,
  '--company': true,
  '--json': false,
  '--jq': true,
  '--no-input': false,
}

/**
 * Moves the global options before a command or its verb to the end:
 * `--data-dir D status` becomes `status --data-dir D`. Commander would expect
 * them to be options of the program, and not of the command.
 */
export function moveGlobalOptions(words: readonly string[]): string[] {
  const before = leadingOptions(words)
  const [name, ...inner] = words.slice(before.length)
  if (name === undefined) return [...words]
  const between = leadingOptions(inner)
  const rest = inner.slice(between.length)
  const end = rest.indexOf('--')
  return [name, ...rest.toSpliced(end < 0 ? rest.length : end, 0, ...before, ...between)]
}

/** Returns the global options at the beginning, with their values. */
function leadingOptions(words: readonly string[]): readonly string[] {
  let count = 0
  for (let word = words[0]; word !== undefined; word = words[count]) {
    const [option = '', ...value] = word.split('=')
    const takesNext = GLOBAL_OPTIONS[option]
    if (takesNext === undefined) break
    count += takesNext && value.length === 0 ? 2 : 1
  }
  return words.slice(0, count)
}

/** Adds the verb to a noun without one: `inbox` becomes `inbox list`. */
export function addDefaultVerb(program: Command, words: readonly string[]): string[] {
  const [name, next, ...rest] = words
  const noun = program.commands.find((command) => command.name() === name)
  const verb = noun && defaultVerbOf(noun)
  const hasVerb = next !== undefined && (!next.startsWith('-') || next === '-h' || next === '--help')
  if (!verb || hasVerb) return [...words]
  return [name!, verb, ...(next === undefined ? [] : [next]), ...rest]
}

/** Returns the verb of a noun without a verb: `list` or `view`, if it needs no argument. */
export const defaultVerbOf = (noun: Command): string | undefined =>
  ['list', 'view'].find((verb) =>
    noun.commands.some(
      (command) => command.name() === verb && command.registeredArguments.every((argument) => !argument.required),
    ),
  )
