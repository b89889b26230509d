import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type ExitRecord, factsFile, logFolder } from '../process/run-files.ts'
import { causeOf, post, Refused } from './request.ts'
import type { RemoteJob, Report, ReportedPart, ReportReply } from './wire.ts'

/** Uploads the files of a run to the server while they grow. */
export interface Mirror {
  /** Sends the remaining parts and the exit record until the server has stored them. It gives up after a day. */
  finish(exit: ExitRecord): Promise<void>
}

export interface MirrorOptions {
  runDir: string
  instance: string
  job: RemoteJob
  /** Receives each reply. */
  onReply(reply: ReportReply): void
  /** Called when the server has ended the run and its token is no longer valid. */
  onRunEnded(): void
}

/** The intervals at which the files are read and at which a run without output reports, in milliseconds. */
const POLL_MS = 200
const HEARTBEAT_MS = 2_000

/** The maximum content of a report, in bytes. */
const REPORT_BYTES = 384 * 1024

const MAX_RETRY_MS = 10_000
const GIVE_UP_MS = 24 * 60 * 60_000

/**
 * Starts to upload the files of a run. The files on disk are the buffer: each
 * reply has the number of stored bytes, and the upload continues there. A lost
 * response, a lost connection or a restart of the server therefore neither
 * loses nor duplicates data.
 */
export function startMirror({ runDir, instance, job, onReply, onRunEnded }: MirrorOptions): Mirror {
  const stored = new Map<string, number>()
  let isOver = false
  let exit: ExitRecord | null = null
  let lastContact = performance.now()
  let waitMs = POLL_MS
  let hurry = () => {}

  const send = async (parts: ReportedPart[], withExit: ExitRecord | null) => {
    const report: Report = { instance, clock: new Date().toISOString(), parts, exit: withExit }
    const reply = await post<ReportReply>(job, 'report', report)
    for (const [name, size] of Object.entries(reply.sizes)) stored.set(name, size)
    lastContact = performance.now()
    onReply(reply)
  }

  /** Sends the next report, if there is new content or a heartbeat is due. */
  const look = async () => {
    const parts = nextParts(runDir, stored)
    if (parts.length > 0) return send(parts, null)
    if (exit) {
      await send([], exit)
      isOver = true
      return
    }
    if (performance.now() - lastContact >= HEARTBEAT_MS) await send([], null)
  }

  const loop = async () => {
    while (!isOver) {
      try {
        await look()
        waitMs = POLL_MS
      } catch (error) {
        if (error instanceof Refused && !error.isTransient) {
          isOver = true
          if (error.status !== 401) process.stderr.write(`The server refused a report: ${error.message}\n`)
          onRunEnded()
          return
        }
        if (waitMs === POLL_MS) process.stderr.write(`A report was not sent: ${causeOf(error)}\n`)
        waitMs = Math.min(Math.max(waitMs, POLL_MS) * 2, MAX_RETRY_MS)
      }
      if (!isOver && !(exit && waitMs === POLL_MS)) {
        await Promise.race([delay(waitMs), new Promise<void>((resolve) => (hurry = resolve))])
      }
    }
  }
  const done = loop()

  return {
    async finish(record) {
      exit = record
      hurry()
      await Promise.race([done, delay(GIVE_UP_MS, undefined, { ref: false })])
    },
  }
}

/** Returns the parts of the files that the server has not stored, facts first. */
function nextParts(runDir: string, stored: ReadonlyMap<string, number>): ReportedPart[] {
  const parts: ReportedPart[] = []
  let room = REPORT_BYTES
  for (const { name, file } of filesOf(runDir)) {
    if (room <= 0) break
    const offset = stored.get(name) ?? 0
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
    if (size <= offset) continue
    const bytes = readPart(file, offset, Math.min(room, size - offset))
    if (bytes.length === 0) continue
    parts.push({ name, offset, data: bytes.toString('base64') })
    room -= bytes.length
  }
  return parts
}

function filesOf(runDir: string): { name: string; file: string }[] {
  const startOf = (name: string) => (name === 'head' ? 0 : Number(name.slice('tail-'.length)))
  const folder = logFolder(runDir)
  let names: string[] = []
  try {
    names = readdirSync(folder).sort((a, b) => startOf(a) - startOf(b))
  } catch {
    // There is no output yet.
  }
  return [
    { name: 'facts.jsonl', file: factsFile(runDir) },
    ...names.map((name) => ({ name: `log/${name}`, file: path.join(folder, name) })),
  ]
}

function readPart(name: string, offset: number, length: number): Buffer {
  let file: number | undefined
  try {
    file = openSync(name, 'r')
    const bytes = Buffer.allocUnsafe(length)
    return bytes.subarray(0, readSync(file, bytes, 0, length, offset))
  } catch {
    return Buffer.alloc(0) // the shim deleted this piece of the log
  } finally {
    if (file !== undefined) closeSync(file)
  }
}
