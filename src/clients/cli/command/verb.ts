import { Command } from 'commander'
import { AppError } from '../../../platform/errors.ts'
import type { ListPage } from '../../client/client.ts'
import { withConnection } from '../../connection/connect.ts'
import { CliError, EXIT } from '../../connection/exit-codes.ts'
import { defaultVerbOf } from '../command-line.ts'
import { asStarted } from './as-started.ts'
import { confirm, editText } from './ask.ts'
import { type Flags, optionOf, type Values, valuesOf } from './flag.ts'
import { table } from './output.ts'
import { type Output, show } from './result.ts'
import { createScope, type Options, type Scope } from './scope.ts'

/** The arguments of a verb: `<agent>` is a string, `[text]` may be undefined. */
type ArgsOf<Names extends readonly string[]> = {
  [Index in keyof Names]: Names[Index] extends `[${string}` ? string | undefined : string
}

interface VerbSpec<Names extends readonly string[], F extends Flags> {
  name: string
  alias?: string
  summary: string
  /** The names of the arguments in the syntax of commander: `<agent>`. */
  args?: Names
  flags?: F
  /** Command lines without `service`. A test runs each of them. */
  examples: readonly string[]
  /** The end of the help text. */
  note?: string
}

interface RunSpec<Names extends readonly string[], F extends Flags> extends VerbSpec<Names, F> {
  run(scope: Scope, args: ArgsOf<Names>, values: Values<F>): Promise<Output> | Promise<void>
}

/** Creates the command of a noun. It has verbs as subcommands and nothing else. */
export function noun(name: string, description: string, verbs: readonly Command[]): Command {
  const command = new Command(name).description(description)
  for (const one of verbs) command.addCommand(one)
  command.helpCommand(false)
  const verb = defaultVerbOf(command)
  if (verb !== undefined) command.addHelpText('after', `\nWithout a command: ${verb}.`)
  return command
}

/** A command whose `--json` without `=` does not consume the next word, which is an argument. */
class VerbCommand extends Command {
  override parseOptions(args: string[]) {
    const end = args.indexOf('--')
    return super.parseOptions(args.map((word, i) => (word === '--json' && (end < 0 || i < end) ? '--json=' : word)))
  }
}

/** The heading of the options that all verbs have. */
const COMMON = 'Common options:'

/** The help texts of arguments, by their names. */
const ARGUMENTS: Record<string, string> = {
  '<agent>': 'its name, key or id',
  '<approval>': 'its id, or latest',
  '<company>': 'its name, prefix or id',
  '[company]': 'its name, prefix or id',
  '<goal>': 'its title or id',
  '<issue>': 'its identifier, such as TER-6',
  '<project>': 'its name, key or id',
  '<routine>': 'its title or id',
  '<run>': 'its id, or latest',
  '<skill>': 'its key, name or id',
  '<text>': 'text, @file or -',
  '<webhook>': 'its description, host, URL or id',
}

/** Creates the command of a verb, with the options that all verbs have. */
export function verb<const Names extends readonly string[] = [], F extends Flags = Record<never, never>>(
  spec: RunSpec<Names, F>,
): Command {
  const { name, alias, summary, args = [] as unknown as Names, flags = {} as F, examples, note } = spec
  const command = new VerbCommand(name).description(summary)
  if (alias !== undefined) command.alias(alias)
  for (const arg of args) command.argument(arg, ARGUMENTS[arg])
  for (const flag of Object.values(flags)) command.addOption(optionOf(flag))
  const isLong = Object.values(flags).some((flag) => flag.isLong)
  if (isLong) command.option('-e, --editor', 'write the text in your editor ($VISUAL or $EDITOR)')
  withConnection(command.optionsGroup(COMMON))
    .option('-c, --company <company>', 'its name, prefix or id (default: SERVICE_COMPANY_ID, or the only company)')
    .option('--json [=fields]', 'print JSON, or only these fields of it: --json=id,name')
    .option('--jq <expression>', 'print JSON through a jq expression')
    .option('--no-input', 'never prompt, and open no editor or pager')
    .addHelpText('after', `\nExamples:\n${examples.map((line) => `  $ service ${line}`).join('\n')}`)
  if (note !== undefined) command.addHelpText('after', `\n${note}`)
  return command.action(async (...all: unknown[]) => {
    const options: Options = command.opts()
    const given = all.slice(0, args.length) as ArgsOf<Names>
    const scope = createScope(options, namedIssue(command, given))
    try {
      const output = await spec.run(scope, given, await valuesOf(flags, { ...options }, scope))
      if (output) await show(scope, output)
    } catch (error) {
      throw withFlagNames(error, flags)
    }
  })
}

/** Returns the issue that an argument or option names, or undefined. */
function namedIssue(command: Command, args: readonly unknown[]): string | undefined {
  const at = command.registeredArguments.findIndex((argument) => argument.name() === 'issue')
  const option = command.options.find(({ flags }) => flags.includes('<issue>'))
  const found = args[at] ?? (option && command.opts()[option.attributeName()])
  return typeof found === 'string' && found !== 'none' ? found : undefined
}

/** Replaces the names of request fields in an error of the server by the options of the command line. */
function withFlagNames(error: unknown, flags: Flags): unknown {
  const fields = error instanceof AppError ? (error.details as { fields?: unknown } | null)?.fields : undefined
  if (!(error instanceof AppError) || !Array.isArray(fields)) return error
  const lines = (fields as { path: string; message: string }[]).map(({ path, message }) => {
    const [field = '', ...inner] = path.split('.')
    const flag = flags[field]
    const name = flag ? [optionOf(flag).long, ...inner.filter((part) => !/^\d+$/.test(part))].join(' ') : path
    return `${name}${name === '' ? '' : ': '}${message}`
  })
  return new AppError(error.code, lines.join('; '), error.details)
}

/** The columns of a table: the heading and the text of each cell. */
export type Columns<Item> = Record<string, (item: Item) => string | number | null | undefined>

interface ListSpec<Item, Names extends readonly string[], F extends Flags>
  extends Omit<VerbSpec<Names, F>, 'name' | 'alias'> {
  name?: string
  /** The message for an empty list. */
  empty: string | ((values: Values<F>) => string)
  columns: Columns<Item> | ((scope: Scope, args: ArgsOf<Names>) => Promise<Columns<Item>>)
  /** The lines below the table. */
  notes?(items: readonly Item[], scope: Scope): Promise<readonly string[]>
  /** The page of the list, below the company's. */
  page?: string
  load(scope: Scope, values: Values<F>, args: ArgsOf<Names>): Promise<ListPage<Item> | readonly Item[]>
}

/** Creates a verb that prints records as a table. */
export const list = <Item, const Names extends readonly string[] = [], F extends Flags = Record<never, never>>(
  spec: ListSpec<Item, Names, F>,
): Command =>
  withWeb(
    spec.page,
    verb<Names, F>({
      ...spec,
      name: spec.name ?? 'list',
      async run(scope, args, values) {
        const loaded = await spec.load(scope, values, args)
        const items = 'items' in loaded ? loaded.items : loaded
        if ('items' in loaded && loaded.next !== undefined && process.stderr.isTTY) {
          process.stderr.write(`(the first ${items.length}; raise --limit for more)\n`)
        }
        return {
          value: items,
          ...(spec.page !== undefined && { page: spec.page }),
          text: async () => {
            if (items.length === 0) return asStarted(typeof spec.empty === 'string' ? spec.empty : spec.empty(values))
            const columns = typeof spec.columns === 'function' ? await spec.columns(scope, args) : spec.columns
            const rows = items.map((item) => Object.values(columns).map((cell) => String(cell(item) ?? '')))
            const notes = (await spec.notes?.(items, scope)) ?? []
            return [table([Object.keys(columns), ...rows]), ...(notes.length > 0 ? ['', ...notes] : [])].join('\n')
          },
        }
      },
    }),
  )

interface ViewSpec<Item, Names extends readonly string[], F extends Flags>
  extends Omit<VerbSpec<Names, F>, 'name' | 'alias'> {
  name?: string
  load(scope: Scope, args: ArgsOf<Names>, values: Values<F>): Promise<Item>
  text(item: Item, scope: Scope): string | Promise<string>
  /** The page of the record, below the company's. */
  page?(item: Item): string
}

/** Creates a verb that prints one record. */
export const view = <Item, const Names extends readonly string[] = [], F extends Flags = Record<never, never>>(
  spec: ViewSpec<Item, Names, F>,
): Command =>
  withWeb(
    spec.page,
    verb<Names, F>({
      ...spec,
      name: spec.name ?? 'view',
      ...(spec.name === undefined && { alias: 'show' }),
      async run(scope, args, values) {
        const item = await spec.load(scope, args, values)
        return { value: item, text: () => spec.text(item, scope), ...(spec.page && { page: spec.page(item) }) }
      },
    }),
  )

const withWeb = (page: unknown, command: Command) =>
  page === undefined ? command : command.optionsGroup('Options:').option('-w, --web', 'open it in the browser')

interface ChangeSpec<Item, Names extends readonly string[], F extends Flags>
  extends Omit<VerbSpec<Names, F>, 'name' | 'alias'> {
  name?: string
  send(scope: Scope, args: ArgsOf<Names>, values: Values<F>): Promise<Item>
  text(item: Item, scope: Scope): string | Promise<string>
}

/** Creates a verb that creates a record. A new record has nothing to clear, so its help does not mention that. */
export const create = <Item, const Names extends readonly string[], F extends Flags = Record<never, never>>(
  spec: ChangeSpec<Item, Names, F>,
): Command => {
  const flags = Object.entries(spec.flags ?? {}).map(([key, flag]) => [key, { ...flag, clears: false }])
  return act<Item, Names, F>({ ...spec, flags: Object.fromEntries(flags) as F, name: spec.name ?? 'create' })
}

interface EditSpec<Item, Names extends readonly string[], F extends Flags> extends ChangeSpec<Item, Names, F> {
  /** Reads the record whose text the editor opens. */
  load?(scope: Scope, args: ArgsOf<Names>): Promise<object>
}

/** Creates a verb that changes a record. A call without options is a usage error. */
export function edit<Item, const Names extends readonly string[], F extends Flags>(
  spec: EditSpec<Item, Names, F>,
): Command {
  const { flags = {} as F, load } = spec
  return act<Item, Names, F>({
    ...spec,
    name: 'edit',
    alias: 'update',
    ...(load && { load }),
    async send(scope, args, values) {
      if (Object.keys(values).length > 0) return spec.send(scope, args, values)
      const names = Object.values(flags).map((flag) => optionOf(flag).long)
      throw new CliError(EXIT.usage, `There is nothing to change. Add at least one of ${names.join(', ')}.`)
    },
  })
}

/** Creates a verb that performs an action on a record and prints the result. */
export const act = <Item, const Names extends readonly string[], F extends Flags = Record<never, never>>(
  spec: EditSpec<Item, Names, F> & { name: string; alias?: string },
): Command =>
  verb<Names, F>({
    ...spec,
    async run(scope, args, values) {
      const written = await writeLongText(spec, scope, args, values)
      const item = await spec.send(scope, args, written)
      return { value: item, text: () => spec.text(item, scope) }
    },
  })

/** With `--editor`, opens the first long text of a command in the editor. */
async function writeLongText<Item, Names extends readonly string[], F extends Flags>(
  { flags, load }: EditSpec<Item, Names, F>,
  scope: Scope,
  args: ArgsOf<Names>,
  values: Values<F>,
): Promise<Values<F>> {
  if (!(scope.options as { editor?: boolean }).editor) return values
  const key = Object.entries(flags ?? {}).find(([, flag]) => flag.isLong)![0]
  const before =
    (values as Record<string, unknown>)[key] ?? ((await load?.(scope, args)) as Record<string, unknown>)?.[key]
  return { ...values, [key]: await editText(scope, typeof before === 'string' ? before : '') }
}

/** Creates a verb that deletes a record after a confirmation. */
export const remove = <Item, const Names extends readonly string[], F extends Flags = Record<never, never>>(
  spec: ChangeSpec<Item, Names, F> & {
    /** The question to ask, such as "Delete the label bug?". */
    ask(args: ArgsOf<Names>, scope: Scope): string | Promise<string>
  },
): Command =>
  act<Item, Names, F>({
    ...spec,
    name: spec.name ?? 'delete',
    async send(scope, args, values) {
      if (!(await confirm(scope.options, await spec.ask(args, scope))))
        throw new CliError(EXIT.failure, 'Nothing was changed.')
      return spec.send(scope, args, values)
    },
  })
    .optionsGroup('Options:')
    .option('-y, --yes', 'do not prompt for a confirmation')
