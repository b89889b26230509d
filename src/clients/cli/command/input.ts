import { readFile } from 'node:fs/promises'
import { text as readStream } from 'node:stream/consumers'
import { CliError, EXIT, lineOf } from '../../connection/exit-codes.ts'

/**
 * Reads a text argument: the text itself, `@file`, or `-` for standard input.
 * Standard input is read asynchronously: a synchronous read fails with EAGAIN
 * if the other end of the pipe is slow.
 */
export async function readText(text: string): Promise<string> {
  if (text !== '-' && !text.startsWith('@')) return text
  try {
    return (text === '-' ? await readStream(process.stdin) : await readFile(text.slice(1), 'utf8')).trimEnd()
  } catch (error) {
    throw new CliError(EXIT.usage, `Cannot read ${text === '-' ? 'standard input' : text.slice(1)}: ${lineOf(error)}`)
  }
}

/** Reads a JSON argument: the text itself, `@file`, or `-` for standard input. The server validates it. */
export async function readJson<Value>(text: string): Promise<Value> {
  const json = await readText(text)
  try {
    return JSON.parse(json) as Value
  } catch (error) {
    const source = text === '-' ? 'Standard input' : text.startsWith('@') ? text.slice(1) : 'The argument'
    throw new CliError(EXIT.usage, `${source} is not JSON: ${lineOf(error)}`)
  }
}

/** Parses a budget in dollars and returns whole cents. A leading `$` is allowed. `none` is 0: no limit. */
export function parseDollars(text: string): number {
  if (text === 'none') return 0
  const dollars = Number(text.replace(/^\$/, ''))
  if (text.trim() === '' || Number.isNaN(dollars) || dollars < 0) {
    throw new CliError(EXIT.usage, `A budget must be a number of dollars, or none for no limit, not ${text}.`)
  }
  return Math.round(dollars * 100)
}
