import { Command } from 'commander'
import type { ListPage } from '../client/client.ts'
import type { ItemOf, ListName, RequestArguments } from '../client/types.ts'
import type { Client } from '../connection/client.ts'
import { type ConnectionOptions, connect, withConnection } from '../connection/connect.ts'
import { print, printJson } from './output.ts'

/** The options of every command that reads or changes a company. */
export interface Options extends ConnectionOptions {
  company?: string
  json?: boolean
}

/** Creates the command of a noun. It has verbs as subcommands and nothing else. */
export function noun(name: string, description: string, verbs: readonly Command[]): Command {
  const command = new Command(name).description(description)
  for (const one of verbs) command.addCommand(one)
  return command
}

/** Creates the command of a verb, with the options that all verbs have. */
export const verb = (name: string, description: string, examples: readonly string[]): Command =>
  withConnection(new Command(name))
    .description(description)
    .option('-c, --company <company>', 'its name, prefix or id (default: SERVICE_COMPANY_ID, else the only one)')
    .option('--json', 'print JSON')
    .addHelpText('after', `\nExamples:\n${examples.map((line) => `  $ service ${line}`).join('\n')}`)

/** Returns the client of a command. */
export const clientOf = (options: Options): Client => connect(options, process.env)

/** Prints a value: as JSON with `--json`, otherwise as text. */
export function show(options: Options, value: unknown, text: () => string): void {
  if (options.json) printJson(value)
  else print(text())
}

type Page<Item> = (name: string, options: unknown) => Promise<ListPage<Item>>

/** Requests a list. On a terminal it says if the limit left entries out. */
export async function list<const Name extends ListName>(
  client: Client,
  name: Name,
  ...options: RequestArguments<Name>
): Promise<ItemOf<Name>[]> {
  // Checked by the signature; the compiler cannot relate the two generic types in reasonable time.
  const { items, next } = await (client.page as unknown as Page<ItemOf<Name>>)(name, options[0])
  const hasLimit = (options[0] as { query?: { limit?: unknown } } | undefined)?.query?.limit !== undefined
  if (hasLimit && next !== undefined && process.stderr.isTTY) {
    process.stderr.write(`(the first ${items.length}; raise --limit for more)\n`)
  }
  return items
}

export const withLimit = (command: Command, limit = '50'): Command =>
  command.option('-n, --limit <count>', 'the maximum number of entries', limit)

/** Calls a function with a value that is not undefined. */
export const mapDefined = <Value, Result>(value: Value | undefined, map: (value: Value) => Result) =>
  value === undefined ? undefined : map(value)
