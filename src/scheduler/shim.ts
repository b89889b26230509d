/**
 * The shim: a small program between the server and one run's agent program.
 * It leads the run's process group, keeps the output, enforces the limits,
 * ends whatever the program leaves behind, and records the exit. It needs no
 * server for any of that: so a run outlives a crash or an upgrade of the
 * server, and the next one finds out how it really ended.
 *
 * Usage: shim <run folder>, with a RunSpec as JSON on standard input.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { readerOf } from '../adapter/readers.ts'
import { createCappedLog } from './capped-log.ts'
import { createFactsFile, writeAtomically } from './facts-file.ts'
import { createLineSplitter } from './lines.ts'
import { createScrubber } from './scrubber.ts'
import { EXIT_FILE, type ExitRecord, type RunSpec } from './shim-protocol.ts'
import { endTree } from './tree.ts'

/** What a program that ended well, but left processes behind, gives them to end by themselves. */
const STRAY_GRACE_MS = 1_000

/** How long a closed pipe may take to give its last bytes, once nobody is left to write to it. */
const LAST_OUTPUT_MS = 1_000

const folder = process.argv[2]!
const startedAt = new Date().toISOString()
const spec = parseSpec(await text(process.stdin))
if (spec) await supervise(spec)

/** The whole spec, or nothing when the server died while it wrote: then nothing is started. */
function parseSpec(input: string): RunSpec | undefined {
  try {
    return JSON.parse(input) as RunSpec
  } catch {
    return undefined
  }
}

async function supervise(spec: RunSpec): Promise<void> {
  let stop: (reason: ExitRecord['reason']) => void = () => {}
  // The first cause wins. Signals may come before the program is there.
  const stopped = new Promise<ExitRecord['reason']>((resolve) => {
    stop = resolve
  })
  process.on('SIGTERM', () => stop('stopped'))
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGPIPE'] as const) process.on(signal, () => {})

  // The server's files are for its user alone; what an agent makes is as the user's other programs make it.
  process.umask(0o022)
  const child = spawn(spec.command, spec.args, { cwd: spec.cwd, env: spec.env, stdio: 'pipe' })
  const output = pump(child, spec)
  const timers = startLimits(spec, output, stop)

  const ended = await Promise.race([
    once(child, 'exit').then(([exitCode, signal]) => ({ exitCode, signal, reason: 'exited' as const, error: null })),
    stopped.then((reason) => ({ reason, exitCode: null, signal: null, error: null })),
  ]).catch(spawnFailed)
  timers.close()

  const isStopped = ended.reason !== 'exited' && ended.reason !== 'spawn_failed'
  const run = { id: spec.runId, groupId: process.pid, except: process.pid }
  const strays = await endTree(run, isStopped ? spec.graceSec * 1_000 : STRAY_GRACE_MS)
  await Promise.race([output.closed, delay(LAST_OUTPUT_MS)])
  output.finish()
  const record: ExitRecord = {
    ...ended,
    exitCode: isStopped ? child.exitCode : ended.exitCode,
    signal: isStopped ? child.signalCode : ended.signal,
    startedAt,
    finishedAt: new Date().toISOString(),
    outputBytes: output.bytes(),
    strays: isStopped ? strays - 1 : strays,
  }
  writeAtomically(path.join(folder, EXIT_FILE), JSON.stringify(record))
  process.exit(0)
}

function spawnFailed(error: NodeJS.ErrnoException) {
  const details = { code: error.code ?? 'spawn_failed', message: error.message }
  return { reason: 'spawn_failed' as const, exitCode: null, signal: null, error: details }
}

/** Carries the program's output to the log and to its reader. Writing is synchronous: that is the back-pressure. */
function pump(child: ChildProcess, spec: RunSpec) {
  const log = createCappedLog(folder, spec.logLimit)
  const facts = createFactsFile(folder)
  const reader = readerOf(spec.adapterType, spec.adapterConfig, spec)
  let bytes = 0
  let lastAt = Date.now()

  const streams = [
    { source: child.stdout!, lines: createLineSplitter((line) => facts.add(reader.line(line))) },
    { source: child.stderr!, lines: createLineSplitter((line) => facts.add(reader.errorLine(line))) },
  ].map(({ source, lines }) => {
    const scrubber = createScrubber(spec.redact)
    source.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      lastAt = Date.now()
      const clean = scrubber.push(chunk)
      log.write(clean)
      lines.push(clean)
    })
    const finish = () => {
      const rest = scrubber.end()
      log.write(rest)
      lines.push(rest)
      lines.end()
    }
    return { closed: once(source, 'close'), finish }
  })

  // A program that does not read its prompt, or that never came to be, is no error here.
  child.stdin!.on('error', () => {})
  child.stdin!.end(spec.stdin)

  return {
    bytes: () => bytes,
    lastAt: () => lastAt,
    closed: Promise.all(streams.map((stream) => stream.closed)),
    finish() {
      for (const stream of streams) stream.finish()
      facts.flush()
      log.close()
    },
  }
}

function startLimits(spec: RunSpec, output: { lastAt(): number }, stop: (reason: 'timed_out' | 'silent') => void) {
  const limit = setTimeout(() => stop('timed_out'), spec.timeoutSec * 1_000)
  let silence: NodeJS.Timeout | undefined
  const listen = () => {
    const left = output.lastAt() + spec.silenceSec * 1_000 - Date.now()
    if (left <= 0) stop('silent')
    else silence = setTimeout(listen, left)
  }
  if (spec.silenceSec > 0) listen()
  return {
    close() {
      clearTimeout(limit)
      clearTimeout(silence)
    },
  }
}
