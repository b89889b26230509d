import { Option } from 'commander'
import { CliError, EXIT } from '../../connection/exit-codes.ts'
import type { Noun } from './find.ts'
import { parseDollars, readJson, readText } from './input.ts'
import type { Scope } from './scope.ts'

/**
 * One option of a command. A command describes its options as a record whose
 * keys are the fields of the request, so that the values can be sent as they
 * are.
 */
export interface Flag<Value, Always extends boolean = boolean> {
  /** In the syntax of commander: `-s, --status <status>`. */
  flags: string
  help?: string
  /** Converts the text of the command line. If absent, the text itself is the value. */
  parse?(text: string, scope: Scope, name: string): Value | Promise<Value>
  choices?: readonly string[]
  default?: string
  /** Whether the option always has a value: it is mandatory, or has a default. */
  always?: Always
  /** Whether the value is a long text, which may be written in the editor. */
  isLong?: boolean
  /** Whether the help says that `none` clears the field. */
  clears?: boolean
}

export type Flags = Record<string, Flag<unknown>>

type ValueOf<F> = F extends Flag<infer Value> ? Value : never

/** The values of a record of options, by the same keys. */
export type Values<F extends Flags> = {
  [Key in keyof F as F[Key] extends { always: true } ? Key : never]: ValueOf<F[Key]>
} & {
  [Key in keyof F as F[Key] extends { always: true } ? never : Key]?: ValueOf<F[Key]>
}

export const text = (flags: string, help?: string): Flag<string> => ({ flags, ...(help !== undefined && { help }) })

/** A text that may also be a file or standard input, or be written in the editor. */
export const longText = (flags: string): Flag<string> => ({
  flags,
  help: 'text, @file or -',
  parse: readText,
  isLong: true,
})

export const choice = <const Choice extends string>(
  flags: string,
  choices: readonly Choice[],
  help?: string,
): Flag<Choice> => ({ ...text(flags, help), choices }) as Flag<string> as Flag<Choice>

/** Accepts several words of a set, separated by commas. */
export const choices = (flags: string, all: readonly string[], help = 'only these, separated by commas') => ({
  flags,
  help: `${help}: ${all.join(', ')}`,
  parse(given: string, _: Scope, name: string): string {
    const unknown = given.split(',').find((one) => !all.includes(one.trim()))
    if (unknown !== undefined) throw new CliError(EXIT.usage, `${name} accepts ${all.join(', ')}, not ${unknown}.`)
    return given.replaceAll(' ', '')
  },
})

export const toggle = (flags: string, help: string): Flag<true> => ({ flags, help, parse: () => true })

/** Accepts a reference to a record, as `findId` does. The value is the id. */
export const reference = (noun: Noun, flags: string, help?: string): Flag<string> => ({
  ...text(flags, help),
  parse: (ref, scope) => scope.find(noun, ref),
})

/** Also accepts the word `none`, which clears the field. */
export const clearable = <Value>(flag: Flag<Value>): Flag<Value | null> => ({
  ...flag,
  clears: true,
  parse: async (given, scope, name) =>
    given === 'none' ? null : flag.parse ? await flag.parse(given, scope, name) : (given as Value),
})

/** Accepts several values, separated by commas. `none` is an empty list. */
export const many = <Value>({ parse, ...flag }: Flag<Value>): Flag<Value[]> => ({
  ...flag,
  parse: (given, scope, name) =>
    Promise.all(
      (given === 'none' ? [] : given.split(',')).map(async (one) =>
        parse ? await parse(one.trim(), scope, name) : (one.trim() as Value),
      ),
    ),
})

export const dollars = (flags: string, help: string): Flag<number> => ({ flags, help, parse: parseDollars })

const EXPIRY_UNITS: Record<string, number> = { h: 3_600_000, d: 86_400_000 }

/** Accepts the expiry of a credential: a date, a timestamp, or a duration such as `90d`. The value is a timestamp. */
export const expiry = (flags: string, help: string): Flag<string> => ({
  flags,
  help: `${help}: 90d, 12h or 2027-01-31 (default: never)`,
  parse(given, _, name) {
    const [, count, unit = ''] = /^(\d{1,5})([hd])$/.exec(given) ?? []
    const at = count === undefined ? new Date(given) : new Date(Date.now() + Number(count) * EXPIRY_UNITS[unit]!)
    if (Number.isNaN(at.getTime())) throw new CliError(EXIT.usage, `${name} accepts 90d, 12h or a date, not ${given}.`)
    return at.toISOString()
  },
})

export const json = <Value>(flags: string, help: string): Flag<Value> => ({
  flags,
  help: `${help}: JSON, @file or -`,
  parse: (given) => readJson<Value>(given),
})

/** Makes an option mandatory. */
export const required = <Value>(flag: Flag<Value>): Flag<Value, true> & { always: true } => ({ ...flag, always: true })

/** The maximum number of entries of a list. */
export const LIMIT = {
  limit: {
    flags: '-n, --limit <count>',
    help: 'the maximum number of entries',
    default: '50',
    always: true,
    parse(given: string, _: Scope, name: string): string {
      if (/^[1-9]\d*$/.test(given)) return given
      throw new CliError(EXIT.usage, `${name} must be a whole number from 1 to 1000, not ${given}.`)
    },
  },
} satisfies Flags

export const withDefault = <Value>(flag: Flag<Value>, value: string) =>
  ({ ...flag, default: value, always: true }) as Flag<Value, true> & { always: true }

/** Creates the option of commander for a flag. */
export function optionOf({ flags, help, choices: all, default: value, always, clears }: Flag<unknown>): Option {
  const option = new Option(flags, [help, clears && '(none clears it)'].filter(Boolean).join(' '))
  if (all) option.choices(all)
  if (value !== undefined) option.default(value)
  return option.makeOptionMandatory(always === true && value === undefined)
}

/** Converts the options of a command line to the values of its flags. Absent options have no key. */
export async function valuesOf<F extends Flags>(
  flags: F,
  given: Record<string, unknown>,
  scope: Scope,
): Promise<Values<F>> {
  const values: Record<string, unknown> = {}
  for (const [key, flag] of Object.entries(flags)) {
    const option = optionOf(flag)
    const raw = given[option.attributeName()]
    if (raw === undefined) continue
    // The value of an option with several words is already a list.
    values[key] = flag.parse && !Array.isArray(raw) ? await flag.parse(String(raw), scope, option.long!) : raw
  }
  return values as Values<F>
}
