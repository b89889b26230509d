/**
 * Simulates disk failures: `npm run prove:disk [-- every=1]`.
 *
 * strace makes the Nth write, sync or read of the database fail, for each N up
 * to the last one. The writing process must not crash, and a database that is
 * opened afterwards must have every acknowledged write. Then pages of the
 * database are damaged: reading them may fail with an error, never with a crash.
 * disk-server.ts does the same with a running server.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import Database from 'better-sqlite3'
import { packageRoot } from '../../src/platform/package-root.ts'
import { SERVER_FAULTS, withDamagedPages, withFailingDisk } from './disk-server.ts'

export interface DiskReport {
  faults: number
  /** Faults after which some writes were refused. */
  refused: number
  crashed: number
  lost: number
  /** Faults after which a later write without a fault failed. */
  stuck: number
}

const FAULTS = [
  ['pwrite64', 'ENOSPC'],
  ['pwrite64', 'EIO'],
  ['fdatasync', 'EIO'],
  ['fsync', 'EIO'],
  ['pread64', 'EIO'],
] as const

const WRITES = 12

const source = (file: string) => JSON.stringify(path.join(packageRoot(), 'src/platform/database', file))

/** Writes until `WRITES` are acknowledged, prints each acknowledged number, and finally prints whether a write succeeds. */
const WRITER = (folder: string) => `import { writeSync } from 'node:fs'
  const { default: Database } = await import('better-sqlite3')
  const { createWriteQueue } = await import(${source('write-queue.ts')})
  const sqlite = new Database(${JSON.stringify(path.join(folder, 'service.db'))})
  for (const pragma of ['journal_mode = wal', 'synchronous = full', 'wal_autocheckpoint = 8', 'cache_size = 4']) sqlite.pragma(pragma)
  const { write } = createWriteQueue(sqlite)
  const add = (n) => write(() => sqlite.prepare('insert into note values (?, ?)').run(n, 'x'.repeat(2000)))
  for (let n = 1; n <= ${WRITES}; n++) {
    try { await add(n); writeSync(1, n + ' ') } catch { writeSync(1, 'refused ') }
  }
  // Two attempts, because the fault can affect the first one.
  for (let n = 0; n < 2; n++) try { await add(0); writeSync(1, 'works') } catch {}`

export function failDisk(every: number): DiskReport {
  const report: DiskReport = { faults: 0, refused: 0, crashed: 0, lost: 0, stuck: 0 }
  for (const [call, error] of FAULTS) {
    for (let n = 1; ; n += every) {
      const fault = failOnce(call, error, n)
      if (!fault) break
      report.faults++
      if (fault.refused) report.refused++
      if (fault.crashed) report.crashed++
      if (fault.lost) report.lost++
      if (fault.stuck) report.stuck++
    }
  }
  return report
}

/** Makes one system call fail. Returns undefined if the process makes fewer such calls. */
function failOnce(call: string, error: string, n: number) {
  const folder = mkdtempSync(path.join(tmpdir(), 'service-disk-'))
  const file = path.join(folder, 'service.db')
  try {
    const empty = new Database(file)
    empty.pragma('journal_mode = wal')
    empty.exec('create table note (n integer, text text)')
    empty.close()
    const paths = [file, `${file}-wal`].flatMap((one) => ['-P', one])
    const log = path.join(folder, 'trace')
    const inject = [`trace=${call}`, '-e', `inject=${call}:error=${error}:when=${n}`]
    const node = [process.execPath, '--input-type=module', '-e', WRITER(folder)]
    const options = { encoding: 'utf8', cwd: packageRoot() } as const
    const { status, stdout } = spawnSync('strace', ['-f', '-o', log, ...paths, '-e', ...inject, ...node], options)
    if (!readFileSync(log, 'utf8').includes('(INJECTED)')) return undefined
    const acknowledged = stdout.match(/\d+/g)?.map(Number) ?? []
    const sqlite = new Database(file)
    const found = new Set(sqlite.prepare<[], number>('select n from note').pluck().all())
    const isIntact = sqlite.pragma('integrity_check', { simple: true }) === 'ok'
    sqlite.close()
    return {
      // A fault while the database is opened may end the process with an error; the server then does not start.
      crashed: status !== 0 && !(status === 1 && acknowledged.length === 0),
      refused: stdout.includes('refused'),
      stuck: status === 0 && !stdout.includes('works'),
      lost: !isIntact || acknowledged.some((one) => !found.has(one)),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Damages pages of a database and reads it in another process. Returns the number of crashes of that process. */
export function damagePages(times: number): { damaged: number; crashed: number } {
  const folder = mkdtempSync(path.join(tmpdir(), 'service-disk-'))
  const file = path.join(folder, 'service.db')
  let crashed = 0
  try {
    const sqlite = new Database(file)
    sqlite.exec('create table note (n integer primary key, text text); create index note_by_text on note (text)')
    const add = sqlite.prepare('insert into note (text) values (?)')
    sqlite.transaction(() => {
      for (let n = 0; n < 2_000; n++) add.run(`${n} `.repeat(20))
    })()
    sqlite.close()
    const whole = readFileSync(file)
    const reader = `const { default: Database } = await import('better-sqlite3')
      try {
        const sqlite = new Database(${JSON.stringify(file)})
        sqlite.pragma('integrity_check')
        for (const order of ['n', 'text']) sqlite.prepare('select * from note order by ' + order).all()
        sqlite.prepare('update note set text = text || n').run()
      } catch (error) { if (!/^SQLITE_/.test(error.code)) throw error }`
    for (let i = 0; i < times; i++) {
      const damaged = Buffer.from(whole)
      const at = Math.floor(Math.random() * damaged.length)
      for (let n = at; n < Math.min(at + 200, damaged.length); n++) damaged[n] = Math.floor(Math.random() * 256)
      writeFileSync(file, damaged)
      const { status } = spawnSync(process.execPath, ['--input-type=module', '-e', reader], { cwd: packageRoot() })
      if (status !== 0) crashed++
      for (const rest of ['-wal', '-shm', '-journal']) rmSync(file + rest, { force: true })
    }
    return { damaged: times, crashed }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export const isGuaranteeKept = ({ crashed, lost, stuck }: DiskReport) => crashed + lost + stuck === 0

if (import.meta.main) {
  const [every = 1] = process.argv.slice(2).map(Number)
  const wrong: string[] = []
  let refused = 0
  const faults = SERVER_FAULTS.filter((_, n) => n % every === 0)
  for (const fault of faults) {
    const report = await withFailingDisk(fault)
    refused += report.damaged
    wrong.push(...report.wrong.map((line) => `${fault.call} ${fault.when}: ${line}`))
  }
  const seeds = Array.from({ length: Math.ceil(9 / every) }, (_, n) => n)
  for (const seed of seeds) {
    const report = await withDamagedPages(seed)
    refused += report.damaged
    wrong.push(...report.wrong.map((line) => `pages ${seed}: ${line}`))
  }
  process.stdout.write(
    `${faults.length} faults and ${seeds.length} damaged files of a server: ${refused} responses with database_damaged, ${wrong.length} problems\n${wrong.map((line) => `${line}\n`).join('')}`,
  )
  const report = failDisk(every)
  process.stdout.write(
    `${report.faults} faults, ${report.refused} with refused writes: ${report.crashed} crashes, ${report.lost} with lost writes, ${report.stuck} without recovery\n`,
  )
  const { damaged, crashed } = damagePages(Math.ceil(200 / every))
  process.stdout.write(`${damaged} damaged databases: ${crashed} crashes\n`)
  process.exitCode = isGuaranteeKept(report) && crashed === 0 && wrong.length === 0 ? 0 : 1
}
