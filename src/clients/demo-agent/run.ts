import { randomUUID } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { type Api, createApi } from './api.ts'
import { heartbeat } from './heartbeat.ts'
import type { Environment } from './shift.ts'
import { createStream } from './stream.ts'

const HELP = `Usage: demo-agent -p - --output-format stream-json --verbose [options] < prompt

Plays one agent of a company for one heartbeat. It has no model: what it does
follows from its role and from what the service's API tells it.

Options:
  -p, --print                        run once and end
  --output-format stream-json        the only format it has
  --verbose                          taken, and changes nothing
  --session-id <uuid>                name the session
  --resume <uuid>                    carry a session on
  --append-system-prompt-file <file> taken, and not read
  --model <name>                     taken; the model is always "demo"
  --max-turns <n>                    taken, and changes nothing
  --dangerously-skip-permissions     taken, and changes nothing
  --pace <ms>                        how long a piece of work takes (default 0)
`

/**
 * Runs one heartbeat as a program with the protocol of `runtimeA_local`: the
 * prompt on standard input, JSON lines on standard output. It uses only the API,
 * with the token of its run.
 *
 * @returns the exit code
 */
export async function runDemoAgent(args: readonly string[], env: Environment): Promise<number> {
  const write = (out: string) => process.stdout.write(out)
  if (args.includes('--help') || args.includes('-h')) {
    write(HELP)
    return 0
  }
  if (args.includes('--version') || args.includes('-v')) {
    write('1.0.0 (demo agent)\n')
    return 0
  }
  if (!args.includes('-p') && !args.includes('--print')) {
    process.stderr.write('The demo agent runs in print mode only: demo-agent -p - < prompt\n')
    return 1
  }
  const prompt = await text(process.stdin)
  const session = argumentOf(args, '--resume') ?? argumentOf(args, '--session-id') ?? randomUUID()
  const stream = createStream((line) => write(`${JSON.stringify(line)}\n`), session)
  stream.begin(process.cwd(), prompt)
  try {
    const api = apiOf(env)
    await heartbeat({ api, env, pace: Number(argumentOf(args, '--pace') ?? 0), say: stream.say })
    stream.end()
    return 0
  } catch (error) {
    stream.fail(error instanceof Error ? error.message : String(error))
    return 1
  }
}

function apiOf(env: Environment): Api {
  const { SERVICE_API_URL: url, SERVICE_API_KEY: token } = env
  if (!url || !token)
    throw new Error('SERVICE_API_URL and SERVICE_API_KEY must be set: the service sets them for a run.')
  return createApi(url, token)
}

function argumentOf(args: readonly string[], flag: string): string | undefined {
  const at = args.indexOf(flag)
  return at < 0 ? undefined : args[at + 1]
}
