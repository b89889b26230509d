import { watchStream } from '../../connection/event-stream.ts'
import { CliError, EXIT, type ExitCode } from '../../connection/exit-codes.ts'
import { createEventReader, type RunEvent } from '../../transcript/events.ts'
import { duration, oneLine, paint, plain, words } from '../command/output.ts'
import type { Scope } from '../command/scope.ts'

interface Format {
  raw?: true
}

interface TheRun {
  runId: string
}

/** The exit code for each status of a run. Any other status is a failure. */
const EXIT_OF: Record<string, ExitCode> = { succeeded: EXIT.ok, cancelled: EXIT.gated, timed_out: EXIT.timeout }

/** Prints the whole output of a run. With `--json`, prints each part as a line of JSON. */
export async function printLog({ client, options }: Scope, params: TheRun, { raw }: Format): Promise<void> {
  const write = writerOf(raw)
  let isEmpty = true
  for (let offset = 0; ; ) {
    const part = await client.request('GET /api/runs/:runId/log', { params, query: { offset } })
    if (options.json !== undefined) process.stdout.write(`${JSON.stringify(part)}\n`)
    else write(part.text)
    if (part.text !== '') isEmpty = false
    if (part.isComplete || part.nextOffset === offset) break
    offset = part.nextOffset
  }
  if (options.json !== undefined) return
  write(null)
  if (isEmpty) process.stderr.write('The run has no stored output. A backup does not contain the logs of runs.\n')
}

/** Prints the output of a run live until it ends. With `--json`, prints each event as a line of JSON. */
export async function followRun({ client, options }: Scope, { runId }: TheRun, { raw }: Format): Promise<void> {
  const stopping = new AbortController()
  const write = writerOf(raw)
  for await (const { type, data } of watchStream(client, `/api/runs/${runId}/log/stream`, stopping)) {
    if (type !== 'log' && type !== 'end') continue
    if (options.json !== undefined) process.stdout.write(`${JSON.stringify({ type, ...data })}\n`)
    else write(type === 'log' ? data.text : null)
    if (type === 'end') {
      stopping.abort()
      return finish(data)
    }
  }
}

function finish({ status, error }: { status: string; error: string | null }): void {
  const code = EXIT_OF[status] ?? EXIT.failure
  if (code !== EXIT.ok) throw new CliError(code, `The run ended as ${words(status)}${error ? `: ${error}` : '.'}`)
  if (process.stderr.isTTY) process.stderr.write('(the run succeeded)\n')
}

/** Returns a function that prints parts of an output. Null marks the end. */
function writerOf(raw: true | undefined): (text: string | null) => void {
  if (raw) return (text) => text !== null && process.stdout.write(process.stdout.isTTY ? plain(text) : text)
  const reader = createEventReader()
  let printed = 0
  let outputChars = 0
  return (text) => {
    // The reader processes complete lines, so the end must complete the last one.
    reader.push(text ?? '\n', true)
    for (; printed < reader.events.length; printed++) {
      const event = reader.events[printed]!
      if (event.kind === 'output') {
        // Plain output is one growing event, whose new part is printed immediately.
        const more = event.text.slice(outputChars).replace(/^\n/, '')
        if (more !== '') process.stdout.write(`${plain(more)}\n`)
        outputChars = event.text.length
        if (printed === reader.events.length - 1 && text !== null) return
        outputChars = 0
      } else {
        // A tool call is printed with its result.
        if (event.kind === 'tool' && !event.isDone && text !== null) return
        process.stdout.write(`${describe(event)}\n`)
      }
    }
  }
}

/** The number of printed lines of a tool's result. */
const RESULT_LINES = 4

/** Formats one event in a few lines. */
function describe(event: RunEvent): string {
  switch (event.kind) {
    case 'tool': {
      const { name, title, output = '', hasFailed, tookMs, exitCode } = event
      const head = `${paint(hasFailed ? 'bad' : 'busy', name)} ${oneLine(title)}`
      const about = [
        ...(exitCode ? [`exit ${exitCode}`] : hasFailed ? ['failed'] : []),
        ...(tookMs === undefined || tookMs < 1_000 ? [] : [duration(tookMs)]),
      ]
      const lines = plain(output).trimEnd().split('\n')
      const more = lines.length - RESULT_LINES
      return [
        `${head}${about.length > 0 ? paint('quiet', ` (${about.join(', ')})`) : ''}`,
        ...(output.trim() === '' ? [] : lines.slice(0, RESULT_LINES).map((line) => paint('quiet', `  ${line}`))),
        ...(more > 0 ? [paint('quiet', `  ... ${more} more ${more === 1 ? 'line' : 'lines'}`)] : []),
      ].join('\n')
    }
    case 'end':
      return [paint(event.isOk ? 'good' : 'bad', event.isOk ? 'Done.' : 'Failed.'), plain(event.text)]
        .filter(Boolean)
        .join(' ')
    case 'thinking':
    case 'notice':
      return paint('quiet', plain(event.text))
    case 'error':
      return paint('bad', plain(event.text))
    default:
      return plain(event.text)
  }
}
