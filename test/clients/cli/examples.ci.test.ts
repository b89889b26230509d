import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import type { Command } from 'commander'
import { commandsOf } from '../../../src/clients/cli/commands.ts'
import { temporaryFolder } from '../../helpers.ts'
import { startTestServer } from '../../server.ts'
import { arrange } from './example-company.ts'
import { environment, LAUNCHER } from './service.ts'

/** Commands whose examples need another machine, mode or terminal; other tests run them. */
const ELSEWHERE =
  /^(start|demo|stop|doctor|verify|logs|backup|restore|mcp|completion|login|logout|reset-password|token|session|member|invite|profile use|company new|template|upgrade|placement test)\b/

/** The commands to run before an example, by the first words of the example. */
const BEFORE: Record<string, string> = {
  'approval resubmit': 'approval request-revision latest',
  'agent resume': 'agent pause Kit',
  'issue answer': 'issue ask TER-6 "Which datum?" --kind question',
  'company import': 'company export TER --out tern.zip --yes',
  'wait TER-6': 'issue view TER-6',
}

/** Each example needs a server and two processes, so only one of four runs; `EXAMPLES=all` runs all. */
const EVERY = process.env.EXAMPLES === 'all' ? 1 : 4

test('the examples of the help texts run', { timeout: 550_000 }, async (t) => {
  const examples = (await Promise.all(commandsOf(() => assert.fail()).map(({ load }) => load()))).flatMap(examplesOf)
  assert.ok(examples.length > 100, String(examples.length))
  const todo = [...new Set(examples)].filter((example) => !ELSEWHERE.test(example)).filter((_, i) => i % EVERY === 0)
  const failed: string[] = []
  const work = async () => {
    for (let example = todo.shift(); example !== undefined; example = todo.shift()) {
      const error = await run(t, example)
      if (error !== undefined) failed.push(`${example}\n    ${error}`)
    }
  }
  await Promise.all([work(), work(), work()])
  assert.deepEqual(failed, [])
})

/** Returns the lines after `$ service ` in the help texts of a command and of its verbs. */
function examplesOf(command: Command): string[] {
  let help = ''
  command
    .configureOutput({
      writeOut: (part) => {
        help += part
      },
    })
    .outputHelp()
  const own = [...help.matchAll(/^ {2}\$ service (.+)$/gm)].map(([, line]) => line!)
  return [...own, ...command.commands.flatMap(examplesOf)]
}

/** Runs an example against its own server. @returns its error */
async function run(t: TestContext, example: string): Promise<string | undefined> {
  const { server } = await startTestServer(t)
  const folder = temporaryFolder(t)
  await arrange(server.url, folder)
  const before = Object.entries(BEFORE).find(([beginning]) => example.startsWith(beginning))?.[1]
  const program = `service() { '${process.execPath}' '${LAUNCHER}' "$@"; }`
  const script = [program, ...(before === undefined ? [] : [`service ${before} > before.txt`]), `service ${example}`]
  const child = spawn('sh', ['-e', '-c', script.join('\n')], {
    cwd: folder,
    env: environment({ SERVICE_API_URL: server.url, XDG_CONFIG_HOME: folder, BROWSER: 'true' }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.on('exit', resolve)),
  ])
  await server.close()
  return code === 0 ? undefined : `${code}: ${err || out}`
}
