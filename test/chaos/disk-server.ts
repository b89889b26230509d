/**
 * Simulates disk failures of a running server: `npm run prove:disk` also runs this.
 *
 * strace makes reads or writes of the database fail with EIO, once or from a
 * moment on, while requests arrive. The server must not end by itself, must
 * respond with `database_damaged` and never with another 5xx, must log the
 * stack, must not report itself healthy while writes fail, must recover when
 * the disk does, and must stop on SIGTERM.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { packageRoot } from '../../src/platform/package-root.ts'

export interface Fault {
  call: 'pread64' | 'pwrite64' | 'fsync'
  /** The calls that fail, counted from the time that the server is ready: `3` is the third, `3+` the third and all later ones. */
  when: string
}

export interface ServerDiskReport {
  /** The number of 500 responses with `database_damaged`. */
  damaged: number
  /** The violated guarantees, as sentences. */
  wrong: string[]
}

interface Bench {
  dataDir: string
  report: ServerDiskReport
  start(): Promise<Server>
}

interface Server {
  child: ChildProcess
  /** Undefined if the server did not start. */
  request: SendRequest | undefined
  log(): string
}

// biome-ignore lint/suspicious/noExplicitAny: arbitrary fields of responses are read.
type SendRequest = (method: string, target: string, body?: object) => Promise<{ status: number; body: any }>

const LAUNCHER = path.join(packageRoot(), 'bin/service.mjs')

/** Makes system calls of a server fail while requests arrive. */
export const withFailingDisk = (fault: Fault): Promise<ServerDiskReport> =>
  withData(async ({ dataDir, report, start }) => {
    // A server that has just started has read little of the database.
    const server = await start()
    const send = server.request!
    const companyId = (await send('GET', '/api/companies')).body[0].id
    const tracer = await failDisk(server.child.pid!, path.join(dataDir, 'service.db'), fault)
    try {
      // Each round syncs the database at least once, so that the latest fault of the list occurs.
      for (let n = 0; n < 10; n++) await useServer(send, companyId)
      const health = await send('GET', '/api/health')
      if (fault.when.endsWith('+') && fault.call !== 'pread64' && health.status === 200)
        report.wrong.push('The server is healthy although no write works.')
      // SQLite reports a read of the schema that fails as a malformed database.
      if (
        report.damaged > 0 &&
        !/"stack":"SqliteError: (?:disk I\/O error|database disk image is malformed)/.test(server.log())
      )
        report.wrong.push(`No stack in the log: ${server.log()}`)
    } finally {
      await end(tracer)
    }
    const { status } = await send('POST', `/api/companies/${companyId}/issues`, { title: 'The disk works again' })
    if (status !== 201) report.wrong.push(`After the fault, a write has status ${status}.`)
    const { status: health } = await send('GET', '/api/health')
    if (health !== 200) report.wrong.push(`After the fault, the health check has status ${health}.`)
    await stop(server, report)
    if (existsSync(path.join(dataDir, 'service.db-wal'))) report.wrong.push('The database was not closed.')
  })

/**
 * Damages pages of the database between two starts. The server must refuse to
 * start or continue, and `service doctor` must find the damage while a server
 * does not respond.
 *
 * @param seed chooses the pages
 */
export const withDamagedPages = (seed: number): Promise<ServerDiskReport> =>
  withData(async ({ dataDir, report, start }) => {
    const file = path.join(dataDir, 'service.db')
    const bytes = readFileSync(file)
    // The first pages contain the schema and the roots of the tables. Without them no server starts.
    for (let page = 250 + (seed % 3); page < bytes.length / 4_096; page += 3)
      bytes.fill(0xa5 ^ (seed & 0xff), page * 4_096, page * 4_096 + 512)
    writeFileSync(file, bytes)
    const server = await start()
    if (server.request) {
      const companyId = (await server.request('GET', '/api/companies')).body[0]?.id
      for (let n = 0; n < 3; n++) await useServer(server.request, companyId)
    } else if (!/damaged|malformed/.test(server.log())) report.wrong.push(`No reason: ${server.log()}`)
    server.child.kill('SIGSTOP')
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [LAUNCHER, 'doctor', '--deep', '--data-dir', dataDir],
      { encoding: 'utf8', timeout: 120_000 },
    )
    server.child.kill('SIGCONT')
    if (status !== 1 || !/database is damaged|malformed/i.test(stdout))
      report.wrong.push(`doctor does not name the damage: ${status} ${stdout} ${stderr}`)
    if (server.request) await stop(server, report)
  })

/** Reads of several tables and indexes, on both connections, and a write. */
async function useServer(send: SendRequest, companyId: string): Promise<void> {
  for (const target of ['issues?limit=100', 'issues?q=issue', 'activity?limit=100', 'agents', 'runs', 'dashboard'])
    await send('GET', `/api/companies/${companyId}/${target}`)
  await send('POST', `/api/companies/${companyId}/issues`, { title: 'While it fails', description: 'x'.repeat(2_000) })
}

/** Calls a function with an unused data directory of 300 issues. */
async function withData(run: (bench: Bench) => Promise<void>): Promise<ServerDiskReport> {
  const folder = mkdtempSync(path.join(tmpdir(), 'service-disk-'))
  const dataDir = path.join(folder, 'data')
  const report: ServerDiskReport = { damaged: 0, wrong: [] }
  const servers: Server[] = []
  const start = async () => {
    const server = await startServer(dataDir, report)
    servers.push(server)
    return server
  }
  try {
    const { request: send, child } = await start()
    const { body: company } = await send!('POST', '/api/companies', { name: 'Acme' })
    const issue = (n: number) => ({ title: `Issue ${n}`, description: 'x'.repeat(2_000) })
    await Promise.all(
      Array.from({ length: 300 }, (_, n) => send!('POST', `/api/companies/${company.id}/issues`, issue(n))),
    )
    await end(child)
    await run({ dataDir, report, start })
  } catch (error) {
    report.wrong.push(`${(error as Error).stack} ${servers.at(-1)?.log()}`)
  } finally {
    for (const { child } of servers) if (!hasEnded(child)) child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  return report
}

async function startServer(dataDir: string, report: ServerDiskReport): Promise<Server> {
  const child = spawn(process.execPath, [LAUNCHER, 'start', '--json', '--port', '0', '--data-dir', dataDir], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
  })
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), once(child, 'close')])
  const url = typeof line === 'string' ? JSON.parse(line).url : undefined
  return { child, request: url && createAsk(url, report), log: () => text }
}

function createAsk(url: string, report: ServerDiskReport): SendRequest {
  return async (method, target, body) => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(url + target, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    const content = (await response.json()) as { code?: string }
    if (response.status >= 500 && content.code === 'database_damaged') report.damaged++
    else if (response.status >= 400)
      report.wrong.push(`${method} ${target}: ${response.status} ${JSON.stringify(content)}`)
    return { status: response.status, body: content }
  }
}

/** Attaches strace to a server. Resolves when the calls on its database fail as described. */
async function failDisk(pid: number, file: string, { call, when }: Fault): Promise<ChildProcess> {
  const paths = [file, `${file}-wal`].flatMap((one) => ['-P', one])
  const inject = ['-e', `trace=${call}`, '-e', `inject=${call}:error=EIO:when=${when}`]
  const tracer = spawn('strace', ['-f', '-p', String(pid), '-o', '/dev/null', ...paths, ...inject], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [line] = await once(createInterface(tracer.stderr), 'line')
  if (!/attached/.test(line)) throw new Error(`strace did not attach: ${line}`)
  return tracer
}

async function stop({ child, log }: Server, report: ServerDiskReport): Promise<void> {
  if (hasEnded(child)) report.wrong.push(`The server ended: ${log()}`)
  if (/Unexpected failure/.test(log())) report.wrong.push(`An error was not caught: ${log()}`)
  await end(child)
}

/** Sends SIGTERM and waits up to 20 s for the exit. */
async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  const patience = new AbortController()
  const late = delay(20_000, 'late' as const, { signal: patience.signal }).catch(() => undefined)
  const first = await Promise.race([exit, late])
  patience.abort()
  if (first === 'late') throw new Error('SIGTERM did not end the process within 20 s.')
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null

/** The faults of the long test. */
export const SERVER_FAULTS: readonly Fault[] = (['pread64', 'pwrite64', 'fsync'] as const).flatMap((call) =>
  ['1', '2', '5', '9', '1+', '8+'].map((when) => ({ call, when })),
)
