import type { Command } from 'commander'
import { asStarted } from './as-started.ts'

/**
 * Makes commander throw an error instead of ending the process, and print its
 * errors in the form of all other errors, for a command and all below it.
 */
export function configureUsage(command: Command): void {
  command
    .exitOverride()
    .helpOption('-h, --help', 'print help')
    .configureOutput({
      writeOut: (text) => process.stdout.write(asStarted(text)),
      writeErr: (text) => process.stderr.write(asStarted(text)),
      outputError: (text, write) => write(`service: ${usageError(text)} See \`${pathOf(command)} --help\`.\n`),
    })
  for (const one of command.commands) configureUsage(one)
}

/** Returns the words that name a command, such as `service issue label`. */
function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : 'service'
}

/** The errors of commander, and the sentences that replace them. */
const SENTENCES: readonly (readonly [RegExp, string])[] = [
  [/^unknown option '(.+?)'/, 'There is no option $1.'],
  [/^unknown command '(.+?)'/, 'There is no command $1.'],
  [/^missing required argument '(.+?)'/, 'The argument <$1> is missing.'],
  [/^required option '(?:-\w, )?(--[\w-]+).*?' not specified/, 'The option $1 is missing.'],
  [/^option '(?:-\w, )?(--[\w-]+).*?' argument missing/, 'The option $1 needs a value.'],
  [
    /^option '(?:-\w, )?(--[\w-]+).*?' argument '(.*?)' is invalid\. Allowed choices are (.+)\.$/m,
    '$1 accepts $3, not $2.',
  ],
  [
    /^command-argument value '(.*?)' is invalid for argument '(.+?)'\. Allowed choices are (.+)\.$/m,
    '<$2> accepts $3, not $1.',
  ],
  [
    /^too many arguments(?: for '.+?')?\. Expected (\d+) arguments? but got (\d+): (.+)\.$/m,
    'The number of arguments is $2 ($3), not $1.',
  ],
]

/** Converts an error of commander, which has a second line if it suggests another word, to sentences on one line. */
function usageError(text: string): string {
  const [message = '', suggestion] = text
    .trimEnd()
    .replace(/^error: /, '')
    .split('\n')
  const [pattern, sentence] = SENTENCES.find(([pattern]) => pattern.test(message)) ?? [/$/, '']
  return [message.replace(pattern, sentence), suggestion?.replace(/^\((.+)\)$/, '$1')].filter(Boolean).join(' ')
}
