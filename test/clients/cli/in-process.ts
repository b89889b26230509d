import type { TestContext } from 'node:test'
import { Command, CommanderError } from 'commander'
import { configureUsage } from '../../../src/clients/cli/command/usage.ts'
import { addDefaultVerb, moveGlobalOptions } from '../../../src/clients/cli/command-line.ts'
import { commandsOf } from '../../../src/clients/cli/commands.ts'
import { EXIT, exitCodeOf, lineOf } from '../../../src/clients/connection/exit-codes.ts'
import type { Config } from '../../../src/platform/config.ts'
import { startTestServer } from '../../server.ts'
import type { Ended } from './service.ts'

/**
 * Starts a server, and returns functions that run commands against it, all in
 * this process: a command takes milliseconds instead of half a second. Tests of
 * `main.ts` and of terminals need a process; see service.ts.
 */
export async function withCommands(t: TestContext, overrides: Partial<Config> = {}) {
  const { server, dataDir } = await startTestServer(t, overrides)
  const runIn = (env: Record<string, string>, ...args: string[]) => runCommand(t, [...args, '--url', server.url], env)
  const run = (...args: string[]) => runIn({}, ...args)
  const out = async (...args: string[]) => {
    const ended = await run(...args)
    if (ended.code !== 0) throw new Error(`${args.join(' ')}: ${ended.code} ${ended.err}`)
    return ended.out
  }
  const json = async (...args: string[]) => JSON.parse(await out(...args, '--json'))
  const api = async (method: string, path: string, body?: unknown) =>
    JSON.parse(await out('api', method, path, ...(body === undefined ? [] : [JSON.stringify(body)])))
  return { server, dataDir, run, runIn, out, json, api }
}

/** Runs one command in this process. @param env variables that the command gets besides those of this process */
export async function runCommand(
  t: TestContext,
  args: string[],
  env: Record<string, string> = {},
): Promise<Omit<Ended, 'signal'>> {
  const words = moveGlobalOptions(args)
  const before = process.env
  const written = { out: '', err: '' }
  const mocks = (['out', 'err'] as const).map((name) => {
    const stream = name === 'out' ? process.stdout : process.stderr
    const write = stream.write.bind(stream) as (chunk: unknown, ...rest: unknown[]) => boolean
    return t.mock.method(stream, 'write', (chunk: unknown, ...rest: unknown[]) => {
      // The test runner reports in bytes; commands print texts.
      if (typeof chunk !== 'string') return write(chunk, ...rest)
      written[name] += chunk
      return true
    })
  })
  process.exitCode = undefined
  process.env = { ...before, ...env }
  // `backup` and `restore` change it.
  const umask = process.umask(0o022)
  try {
    const entry = commandsOf(() => Promise.reject(new Error('No server is started here.'))).find(
      ({ name }) => name === words[0],
    )!
    const program = new Command('service').addCommand(await entry.load())
    configureUsage(program)
    await program.parseAsync(addDefaultVerb(program, words), { from: 'user' })
    return { ...written, code: Number(process.exitCode ?? EXIT.ok) }
  } catch (error) {
    if (error instanceof CommanderError) return { ...written, code: error.exitCode === 0 ? EXIT.ok : EXIT.usage }
    return { ...written, err: `${written.err}service: ${lineOf(error)}\n`, code: exitCodeOf(error) }
  } finally {
    for (const mock of mocks) mock.mock.restore()
    process.env = before
    process.umask(umask)
    process.exitCode = undefined
  }
}
