import { closeSync, fstatSync, openSync, readSync, watch } from 'node:fs'
import path from 'node:path'
import { Command } from 'commander'
import { dataDirOf } from '../../platform/config.ts'
import { logFile } from '../../platform/log-file.ts'
import { CliError, EXIT } from '../connection/exit-codes.ts'
import { plain, print } from './command/output.ts'

interface LogsOptions {
  dataDir?: string
  lines: string
  follow?: boolean
  json?: boolean
}

export const logsCommand = () =>
  new Command('logs')
    .description("Print the server's log, also when there is no server any more.")
    .option('--data-dir <folder>', 'the data directory (default: SERVICE_HOME)')
    .option('-n, --lines <count>', 'how many of the last lines', '100')
    .option('-f, --follow', 'go on with what comes, until Ctrl-C')
    .option('--json', 'print each line as JSON')
    .addHelpText('after', '\nExamples:\n  $ service logs\n  $ service logs -f\n  $ service logs --lines 1000 --json')
    .action(logs)

/** How much of the end of the log is looked at for its last lines, in bytes. */
const TAIL_BYTES = 1024 * 1024

function logs(options: LogsOptions): void {
  const count = Number(options.lines)
  if (!Number.isInteger(count) || count < 0) {
    throw new CliError(EXIT.usage, `--lines is a whole number, not ${options.lines}.`)
  }
  const file = logFile(dataDirOf(options, process.env))
  const tail = readFrom(file, undefined)
  if (!tail) throw new CliError(EXIT.notFound, `There is no log at ${file} yet.`)
  const lines = tail.text.trimEnd().split('\n')
  for (const line of lines.slice(Math.max(0, lines.length - count))) if (line !== '') printLine(line, options)
  if (options.follow) follow(file, tail.end, options)
}

function follow(file: string, from: number, options: LogsOptions): void {
  let offset = from
  let rest = ''
  const look = () => {
    const part = readFrom(file, offset)
    if (!part) return
    offset = part.end
    const lines = (rest + part.text).split('\n')
    rest = lines.pop()!
    for (const line of lines) printLine(line, options)
  }
  watch(path.dirname(file), look)
  look() // what came before there was a watcher
}

/** Reads a file from an offset, or its last part; a file that is shorter than the offset was begun anew. */
function readFrom(name: string, offset: number | undefined): { text: string; end: number } | undefined {
  let file: number
  try {
    file = openSync(name, 'r')
  } catch {
    return undefined
  }
  try {
    const { size } = fstatSync(file)
    const start = offset === undefined ? Math.max(0, size - TAIL_BYTES) : offset > size ? 0 : offset
    const bytes = Buffer.allocUnsafe(size - start)
    return { text: bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, start)), end: size }
  } finally {
    closeSync(file)
  }
}

function printLine(line: string, { json }: LogsOptions): void {
  print(json ? JSON.stringify(entryOf(line)) : process.stdout.isTTY ? plain(line) : line)
}

function entryOf(line: string) {
  const [, at, level, rest = ''] = /^(\S+) (info|warn|error) (.*)$/.exec(line) ?? []
  if (at === undefined) return { message: line }
  const [, message = rest, details] = /^(.*?) (\{.*\})$/.exec(rest) ?? []
  return { at, level, message, ...(details && { details: parsed(details) }) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
