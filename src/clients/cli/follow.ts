import { CliError, EXIT, type ExitCode } from '../connection/exit-codes.ts'
import { watchStream } from './event-stream.ts'
import { findId } from './find.ts'
import { plain, words } from './output.ts'
import { clientOf, type Options } from './verb.ts'

/** How each end of a run ends the program; any other failed. */
const EXIT_OF: Record<string, ExitCode> = { succeeded: EXIT.ok, cancelled: EXIT.gated, timed_out: EXIT.timeout }

/** Prints what a run writes, live, until it ends; with `--json` each event as a line. */
export async function followRun(ref: string, options: Options): Promise<void> {
  const client = clientOf(options)
  const id = await findId(options, 'run', ref)
  const stopping = new AbortController()
  for await (const { type, data } of watchStream(client, `/api/runs/${id}/log/stream`, stopping)) {
    if (type === 'log') {
      const text = process.stdout.isTTY ? plain(data.text) : data.text
      process.stdout.write(options.json ? `${JSON.stringify({ type, ...data })}\n` : text)
    }
    if (type === 'end') {
      stopping.abort()
      if (options.json) process.stdout.write(`${JSON.stringify({ type, ...data })}\n`)
      return finish(data)
    }
  }
}

function finish({ status, error }: { status: string; error: string | null }): void {
  const code = EXIT_OF[status] ?? EXIT.failure
  if (code !== EXIT.ok) throw new CliError(code, `The run ended as ${words(status)}${error ? `: ${error}` : '.'}`)
  if (process.stderr.isTTY) process.stderr.write('(the run succeeded)\n')
}
