import { Command, Option } from 'commander'
import { dataDirOf } from '../../platform/config.ts'
import {
  formatEntry,
  isAtLeast,
  LOG_LEVELS,
  type LogEntry,
  type LogLevel,
  parseEntry,
} from '../../platform/log-entry.ts'
import { logFile } from '../../platform/log-file.ts'
import { CliError, EXIT } from '../connection/exit-codes.ts'
import { paint, plain, print } from './command/output.ts'
import { followLines, readLastLines } from './log-tail.ts'

interface LogsOptions {
  dataDir?: string
  lines: string
  level?: LogLevel
  follow?: boolean
  json?: boolean
}

export const logsCommand = () =>
  new Command('logs')
    .description("Print the server's log, also when no server is running.")
    .option('--data-dir <folder>', 'the data directory (default: SERVICE_HOME)')
    .option('-n, --lines <count>', 'the number of lines from the end', '100')
    .option('-f, --follow', 'continue with new lines, until Ctrl-C')
    .addOption(new Option('--level <level>', 'print only entries of this level or a higher one').choices(LOG_LEVELS))
    .option('--json', 'print each entry as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  $ service logs\n  $ service logs --follow --level warn\n  $ service logs --lines 1000 --json',
    )
    .action(logs)

function logs(options: LogsOptions): void {
  const count = Number(options.lines)
  if (!Number.isInteger(count) || count < 0) {
    throw new CliError(EXIT.usage, `--lines must be a whole number, not ${options.lines}.`)
  }
  const file = logFile(dataDirOf(options, process.env))
  const tail = readLastLines(file, count, (line) => isWanted(line, options))
  if (!tail) throw new CliError(EXIT.notFound, `There is no log at ${file} yet.`)
  for (const line of tail.lines) printLine(line, options)
  if (!options.follow) return
  followLines(file, tail.end, (line) => {
    if (isWanted(line, options)) printLine(line, options)
  })
}

/** Whether a line has the wanted level. A line that is not an entry, such as a stack trace, has none. */
function isWanted(line: string, { level }: LogsOptions): boolean {
  if (level === undefined) return true
  const entry = parseEntry(line)
  return entry !== undefined && isAtLeast(entry.level, level)
}

function printLine(line: string, { json }: LogsOptions): void {
  const entry = parseEntry(line)
  if (json) print(entry ? line : JSON.stringify({ msg: line }))
  else print(toText(line, entry))
}

function toText(line: string, entry: LogEntry | undefined): string {
  const text = entry ? formatEntry(entry) : line
  if (!process.stdout.isTTY) return text
  const meaning = entry && MEANINGS[entry.level]
  return meaning ? paint(meaning, plain(text)) : plain(text)
}

const MEANINGS = { debug: 'quiet', info: undefined, warn: 'waiting', error: 'bad' } as const
