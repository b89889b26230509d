import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import type { Client } from './client.ts'
import { type ConnectionOptions, connect, withConnection } from './connection.ts'
import { CliError, EXIT, lineOf } from './exit-codes.ts'
import { print, printJson } from './output.ts'

/** The options of every command that shows or changes something of a company. */
export interface Options extends ConnectionOptions {
  company?: string
  json?: boolean
}

/** A noun of the command line: its verbs are all it has. */
export function noun(name: string, description: string, verbs: readonly Command[]): Command {
  const command = new Command(name).description(description)
  for (const one of verbs) command.addCommand(one)
  return command
}

/** One verb, with the options that all of them have. */
export const verb = (name: string, description: string, examples: readonly string[]): Command =>
  withConnection(new Command(name))
    .description(description)
    .option('-c, --company <company>', 'its name, prefix or id (default: SERVICE_COMPANY_ID, else the only one)')
    .option('--json', 'print JSON')
    .addHelpText('after', `\nExamples:\n${examples.map((line) => `  $ service ${line}`).join('\n')}`)

/** The server that a command asks. */
export const clientOf = (options: Options): Client => connect(options, process.env)

/** Prints a value: as JSON when asked for, else as text for a person. */
export function show(options: Options, value: unknown, text: () => string): void {
  if (options.json) printJson(value)
  else print(text())
}

/** Asks for a list; on a terminal says when its limit may have cut it. */
export async function list(
  client: Client,
  path: string,
  query: Record<string, string | number | undefined>,
  // biome-ignore lint/suspicious/noExplicitAny: the server's own schema has checked it, and each command reads a few fields.
): Promise<any[]> {
  const search = new URLSearchParams(given(query) as Record<string, string>)
  const answer = await client.request('GET', `${path}?${search}`)
  if (query.limit !== undefined && answer.length === Number(query.limit) && process.stderr.isTTY) {
    process.stderr.write(`(the first ${answer.length}; --limit shows more)\n`)
  }
  return answer
}

export const withLimit = (command: Command, limit = '50'): Command =>
  command.option('-n, --limit <count>', 'how many at most', limit)

/** Only what was given: a field that is left out is not changed. */
export const given = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

/** Reads a text argument: itself, `@file`, or `-` for standard input. */
export function textOf(text: string): string {
  if (text !== '-' && !text.startsWith('@')) return text
  try {
    return readFileSync(text === '-' ? 0 : text.slice(1), 'utf8').trimEnd()
  } catch (error) {
    throw new CliError(EXIT.usage, `${text.slice(1) || 'standard input'} cannot be read: ${lineOf(error)}`)
  }
}

/** Reads a JSON argument: itself, `@file`, or `-` for standard input. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(textOf(text))
  } catch (error) {
    throw error instanceof CliError ? error : new CliError(EXIT.usage, `This is no JSON: ${lineOf(error)}`)
  }
}

/** Reads an amount of dollars as whole cents; a trailing or leading `$` is fine. */
export function centsOf(text: string): number {
  const dollars = Number(text.replace(/^\$/, ''))
  if (Number.isNaN(dollars) || dollars < 0) throw new CliError(EXIT.usage, `A budget is in dollars, not ${text}.`)
  return Math.round(dollars * 100)
}
