/**
 * Cuts the power at random moments: `npm run prove:power [-- cuts=5000]`.
 *
 * strace records every write and sync of a process that writes through the
 * write queue, and when each write was acknowledged. A simulated cut creates the
 * files that a disk can contain at one moment of the record: synced data is present;
 * each later write is present, missing, or present with only its first sectors. Then SQLite
 * must open the database with every acknowledged write, whole batches only. The
 * same cuts must find lost writes at `synchronous` NORMAL and OFF.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import Database from 'better-sqlite3'
import { packageRoot } from '../../src/platform/package-root.ts'

export type Level = 'full' | 'normal' | 'off'

export interface PowerReport {
  cuts: number
  /** Cuts after which an acknowledged write is missing. */
  lost: number
  /** Cuts after which a batch is incomplete, or the file is damaged. */
  broken: number
}

const BATCHES = 150
const BATCH = 4
const SECTOR = 512
const FILES = ['service.db', 'service.db-wal'] as const

type Step =
  | { kind: 'write'; file: string; offset: number; data: Buffer }
  | { kind: 'truncate'; file: string; size: number }
  | { kind: 'sync'; file: string }
  | { kind: 'acknowledged'; batch: number }

export function cutPower(cuts: number, level: Level): PowerReport {
  const folder = mkdtempSync(path.join(tmpdir(), 'service-power-'))
  try {
    const steps = record(folder, level)
    const report: PowerReport = { cuts, lost: 0, broken: 0 }
    const moments = Array.from({ length: cuts }, () => Math.floor(Math.random() * steps.length)).sort((a, b) => a - b)
    const disk = new Map<string, DiskFile>(
      FILES.map((name) => [name, new DiskFile(readFileSync(path.join(folder, `first-${name}`)))]),
    )
    let [done, acknowledged] = [0, 0]
    for (const moment of moments) {
      for (; done < moment; done++) {
        const step = steps[done]!
        if (step.kind === 'acknowledged') acknowledged = step.batch
        else if (step.kind === 'sync') disk.get(step.file)!.sync()
        else disk.get(step.file)!.change(step)
      }
      for (const [name, file] of disk) writeFileSync(path.join(folder, name), file.afterCut())
      rmSync(path.join(folder, 'service.db-shm'), { force: true })
      const found = countBatches(path.join(folder, 'service.db'))
      if (found === undefined) report.broken++
      else if (found < acknowledged) report.lost++
    }
    return report
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

type Change = Exclude<Step, { kind: 'sync' | 'acknowledged' }>

/** The largest file of a record, in bytes. */
const CAPACITY = 8 * 1024 * 1024

/** A file on a disk with a volatile cache. */
class DiskFile {
  readonly #durable: Image
  #pending: Change[] = []

  constructor(content: Buffer) {
    this.#durable = { bytes: Buffer.alloc(CAPACITY), size: content.length }
    content.copy(this.#durable.bytes)
  }

  change(step: Change) {
    this.#pending.push(step)
  }

  sync() {
    for (const step of this.#pending) apply(this.#durable, step)
    this.#pending = []
  }

  /** Returns a possible content of the file after a power cut. */
  afterCut(): Buffer {
    const { bytes, size } = this.#durable
    const ends = this.#pending.map((step) => (step.kind === 'write' ? step.offset + step.data.length : step.size))
    const image = { bytes: Buffer.from(bytes.subarray(0, Math.max(size, ...ends))), size }
    for (const step of this.#pending) {
      const luck = Math.random()
      if (luck < 0.4) apply(image, step)
      else if (luck < 0.6 && step.kind === 'write') {
        const sectors = Math.floor((Math.random() * step.data.length) / SECTOR)
        apply(image, { ...step, data: step.data.subarray(0, sectors * SECTOR) })
      }
    }
    return image.bytes.subarray(0, image.size)
  }
}

interface Image {
  bytes: Buffer
  size: number
}

function apply(image: Image, step: Change): void {
  if (step.kind === 'truncate') {
    image.bytes.fill(0, step.size, Math.max(step.size, image.size))
    image.size = step.size
    return
  }
  step.data.copy(image.bytes, step.offset)
  image.size = Math.max(image.size, step.offset + step.data.length)
}

/** Returns the number of batches in a database, or undefined if it is damaged or a batch is incomplete. */
function countBatches(file: string): number | undefined {
  const sqlite = new Database(file)
  try {
    if (sqlite.pragma('integrity_check', { simple: true }) !== 'ok') return undefined
    const batches = sqlite
      .prepare<[], { batch: number; n: number }>('select batch, count(*) as n from note group by batch order by batch')
      .all()
    return batches.every(({ batch, n }, i) => batch === i + 1 && n === BATCH) ? batches.length : undefined
  } catch {
    return undefined
  } finally {
    sqlite.close()
  }
}

/** Writes batches under strace, and returns the recorded system calls. */
function record(folder: string, level: Level): Step[] {
  const source = (file: string) => JSON.stringify(path.join(packageRoot(), 'src/platform/database', file))
  const script = `import { copyFileSync, writeSync } from 'node:fs'
    const { openDatabase } = await import(${source('open.ts')})
    const { createWriteQueue } = await import(${source('write-queue.ts')})
    const folder = ${JSON.stringify(folder)}
    const sqlite = openDatabase(folder + '/service.db', { backupDir: folder, now: new Date() })
    sqlite.exec('create table note (batch integer, text text)')
    sqlite.pragma('synchronous = ${level}')
    sqlite.pragma('wal_autocheckpoint = 40')
    sqlite.pragma('wal_checkpoint(passive)')
    const { write } = createWriteQueue(sqlite)
    const add = sqlite.prepare('insert into note values (?, ?)')
    for (const name of ${JSON.stringify(FILES)}) copyFileSync(folder + '/' + name, folder + '/first-' + name)
    writeSync(1, 'BEGIN ')
    for (let batch = 1; batch <= ${BATCHES}; batch++) {
      const text = 'x'.repeat(Math.floor(Math.random() * 3_000))
      await Promise.all(Array.from({ length: ${BATCH} }, () => write(() => add.run(batch, text))))
      writeSync(1, 'BATCH ' + batch + ' ')
    }
    process.kill(process.pid, 'SIGKILL')`
  const log = path.join(folder, 'trace')
  const calls = 'trace=fsync,fdatasync,write,pwrite64,ftruncate'
  const program = [process.execPath, '--input-type=module', '-e', script]
  const { stderr } = spawnSync('strace', ['-f', '-y', '-xx', '-s', '100000', '-e', calls, '-o', log, ...program])
  const steps = readFileSync(log, 'latin1').split('\n').flatMap(stepsOf)
  const begin = steps.findIndex((step) => step.kind === 'acknowledged' && step.batch === 0)
  if (begin === -1) throw new Error(`Nothing was recorded: ${stderr}`)
  return steps.slice(begin + 1)
}

/** Parses a line of strace with hexadecimal strings and paths. */
function stepsOf(line: string): Step[] {
  const call = /^\d+ +(\w+)\((\d+)<([^>]*)>(?:, (?:"([^"]*)", )?(.*))?/.exec(line)
  if (!call) return []
  const [, name, descriptor, hexPath = '', hex = '', rest = ''] = call
  const data = Buffer.from(hex.replaceAll('\\x', ''), 'hex')
  if (name === 'write') {
    if (descriptor !== '1') return []
    const batch = /^BATCH (\d+) $/.exec(data.toString())?.[1]
    return batch !== undefined || data.toString() === 'BEGIN '
      ? [{ kind: 'acknowledged', batch: Number(batch ?? 0) }]
      : []
  }
  const opened = hexPath.startsWith('\\x') ? Buffer.from(hexPath.replaceAll('\\x', ''), 'hex').toString() : hexPath
  const file = path.basename(opened)
  if (!FILES.includes(file as never)) return []
  if (name === 'pwrite64')
    return [{ kind: 'write', file, data, offset: Number(/, (\d+)/.exec(`, ${rest.split(', ')[1]}`)?.[1]) }]
  if (name === 'ftruncate') return [{ kind: 'truncate', file, size: Number.parseInt(rest, 10) }]
  return [{ kind: 'sync', file }]
}

if (import.meta.main) {
  const [cuts = 5_000] = process.argv.slice(2).map(Number)
  const controls = { normal: Math.ceil(cuts / 10), off: Math.ceil(cuts / 10) }
  for (const level of ['full', 'normal', 'off'] as const) {
    const { cuts: n, lost, broken } = cutPower(level === 'full' ? cuts : controls[level], level)
    process.stdout.write(`synchronous ${level}: ${n} power cuts, ${lost} with lost writes, ${broken} with damage\n`)
    const isGuaranteeKept = lost + broken === 0
    if (isGuaranteeKept !== (level === 'full')) process.exitCode = 1
  }
}
