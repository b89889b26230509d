import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { CliError, EXIT, lineOf } from '../../connection/exit-codes.ts'
import { isInteractive } from './ask.ts'
import { openBrowser } from './browser.ts'
import { print } from './output.ts'
import type { Options, Scope } from './scope.ts'

/** The result of a command. */
export interface Output {
  /** Printed with `--json` and `--jq`. */
  value: unknown
  text(): string | Promise<string>
  /** The page of the same content, relative to the company's. `--web` opens it. */
  page?: string
}

/** Prints the result of a command in the form that its options request. */
export async function show(scope: Scope, { value, text, page }: Output): Promise<void> {
  const { options, client } = scope
  if (options.web && page !== undefined) {
    const url = new URL(`/${(await scope.company()).issuePrefix}/${page}`, client.url).href
    print(`Opening ${url}`)
    return openBrowser(url, (error) =>
      process.stderr.write(`service: The browser could not be opened: ${lineOf(error)}\n`),
    )
  }
  if (await showJson(options, value)) return
  await printPaged(await text(), options)
}

/** Prints a value as JSON if the options request JSON. Returns whether they do. */
export async function showJson(options: Pick<Options, 'json' | 'jq'>, value: unknown): Promise<boolean> {
  if (options.json === undefined && options.jq === undefined) return false
  const displayed = selectFields(value, options.json ?? '')
  if (options.jq === undefined) print(JSON.stringify(displayed, null, 2))
  else process.stdout.write(await runJq(displayed, options.jq))
  return true
}

/**
 * Selects fields of a record or of each record of a list.
 *
 * @param fields their names, separated by commas; empty for all
 */
function selectFields(value: unknown, fields: string): unknown {
  if (fields === '') return value
  const names = fields.split(',').map((name) => name.trim())
  const pick = (record: unknown) => {
    const known = Object.keys(record ?? {})
    const unknown = names.find((name) => !known.includes(name))
    if (unknown !== undefined) {
      throw new CliError(EXIT.usage, `--json: there is no field ${unknown}. The fields are: ${known.join(', ')}.`)
    }
    return Object.fromEntries(names.map((name) => [name, (record as Record<string, unknown>)[name]]))
  }
  return Array.isArray(value) ? value.map(pick) : pick(value)
}

/** Runs a jq expression. Texts are printed without quotes, and objects on one line each outside a terminal. */
async function runJq(value: unknown, expression: string): Promise<string> {
  // jq itself, compiled to WebAssembly, so that expressions behave as in jq. Loaded on demand: it has 1.3 MB.
  const { raw } = (await import('jq-wasm')).default
  try {
    const out = await raw(JSON.stringify(value ?? null), expression, process.stdout.isTTY ? ['-r'] : ['-r', '-c'])
    return out === '' || out.endsWith('\n') ? out : `${out}\n`
  } catch (error) {
    throw new CliError(EXIT.usage, `--jq: ${lineOf(error).replace(/^Failed to execute raw query: /, '')}`)
  }
}

/** Prints a text, through the user's pager if it is longer than the terminal. */
async function printPaged(text: string, options: Options): Promise<void> {
  const pager = process.env.SERVICE_PAGER ?? process.env.PAGER ?? 'less'
  const isLong = process.stdout.isTTY && text.split('\n').length >= process.stdout.rows
  if (!isLong || !isInteractive(options) || pager === '' || pager === 'cat') return print(text)
  // A shell, because PAGER may have arguments. The text goes to standard input and never into the command.
  const stdio = ['pipe', 'inherit', 'inherit'] as const
  const child = spawn(pager, { shell: true, stdio: [...stdio], env: { LESS: 'FRX', ...process.env } })
  // The user may quit the pager before the end of the text.
  child.stdin!.on('error', () => {})
  child.stdin!.end(`${text}\n`)
  const [code] = await once(child, 'exit')
  if (code === 126 || code === 127) print(text)
}
