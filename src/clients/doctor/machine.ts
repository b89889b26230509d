import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { readServerInfo } from '../../platform/database/server-info.ts'
import type { Check, Finding, Installation } from './check.ts'

/** The oldest major version of Node that better-sqlite3 supports. */
const OLDEST_NODE = 22

export const nodeCheck: Check = {
  id: 'node',
  title: 'Node',
  run() {
    const { node } = process.versions
    const details = { version: node, path: process.execPath }
    const isOld = Number(node.split('.')[0]) < OLDEST_NODE
    return [
      isOld
        ? {
            status: 'broken',
            message: `Node ${node} is too old.`,
            hint: `Install Node ${OLDEST_NODE} or newer.`,
            details,
          }
        : { status: 'ok', message: `Node ${node} at ${process.execPath}`, details },
    ]
  },
}

export const dataDirCheck: Check = {
  id: 'data_dir',
  title: 'Data directory',
  run: ({ dataDir }) => [checkDataDir(dataDir)],
}

function checkDataDir(dataDir: string): Finding {
  const details = { dataDir }
  const other = 'Choose another with --data-dir or SERVICE_HOME.'
  const found = statSync(dataDir, { throwIfNoEntry: false })
  if (!found) {
    const parent = nearestFolder(dataDir)
    if (isWritable(parent)) {
      return { status: 'ok', message: `${dataDir} does not exist yet. The first start creates it.`, details }
    }
    return {
      status: 'broken',
      message: `${dataDir} cannot be created: ${parent} is not writable.`,
      hint: other,
      details,
    }
  }
  if (!found.isDirectory()) return { status: 'broken', message: `${dataDir} is not a directory.`, hint: other, details }
  if (!isWritable(dataDir)) return { status: 'broken', message: `${dataDir} is not writable.`, hint: other, details }
  const mode = found.mode & 0o777
  // The directory contains keys, so no other user may read it.
  if ((mode & 0o077) !== 0 && process.platform !== 'win32') {
    const message = `${dataDir} is accessible to other users of this machine (${mode.toString(8)}).`
    return { status: 'broken', message, hint: `chmod 700 ${dataDir}`, details: { ...details, mode } }
  }
  return { status: 'ok', message: dataDir, details: { ...details, mode } }
}

function nearestFolder(folder: string): string {
  let nearest = folder
  while (!existsSync(nearest) && nearest !== path.dirname(nearest)) nearest = path.dirname(nearest)
  return nearest
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

const MB = 1024 * 1024

/** In bytes. Below the first, a server soon cannot write; below the second, it cannot store the logs of many runs. */
const TOO_LITTLE = 100 * MB
const LITTLE = 1024 * MB

export const diskCheck: Check = {
  id: 'disk',
  title: 'Free disk space',
  run({ dataDir }) {
    const { bavail, bsize } = statfsSync(nearestFolder(dataDir))
    const freeBytes = bavail * bsize
    const message = `${freeBytes < 10 * LITTLE ? `${Math.floor(freeBytes / MB)} MB` : `${Math.floor(freeBytes / LITTLE)} GB`} free`
    const details = { freeBytes }
    const hint = 'Free disk space, or move the data directory to another disk.'
    if (freeBytes < TOO_LITTLE) return [{ status: 'broken', message, hint, details }]
    return [freeBytes < LITTLE ? { status: 'warning', message, hint, details } : { status: 'ok', message, details }]
  },
}

export const portCheck: Check = {
  id: 'port',
  title: 'Server and port',
  run: async (installation) => [(await checkServer(installation)) ?? (await checkPort(installation))],
}

/** How long a server may take to respond, in milliseconds. */
const RESPONSE_MS = 5_000

/** The server of this data directory, if it accepts a connection. */
async function checkServer({ dataDir }: Installation): Promise<Finding | undefined> {
  const info = readServerInfo(dataDir)
  if (!info?.url) return undefined
  const { createClient } = await import('../connection/client.ts')
  const { readHealth } = await import('../connection/health.ts')
  const signal = AbortSignal.timeout(RESPONSE_MS)
  const health = await readHealth(createClient({ url: info.url }), signal).catch(() => undefined)
  if (!health && signal.aborted) {
    const message = `The server at ${info.url} (pid ${info.pid}) does not respond within ${RESPONSE_MS / 1_000} s.`
    return { status: 'broken', message, details: { url: info.url, pid: info.pid } }
  }
  if (!health || health.instance !== info.instance) return undefined
  const details = { url: info.url, pid: info.pid, version: health.version }
  if (health.problem) {
    const message = `The server at ${info.url} (pid ${info.pid}) fails: ${health.problem}`
    return { status: 'broken', message, details }
  }
  return { status: 'ok', message: `The server is running at ${info.url} (pid ${info.pid}).`, details }
}

async function checkPort({ host, port, portGiven }: Installation): Promise<Finding> {
  const code = await tryToListen(host, port)
  const details = { host, port, code }
  if (code === null) return { status: 'ok', message: `The server is not running. Port ${port} is free.`, details }
  const message =
    code === 'EADDRINUSE'
      ? `Another program uses port ${port}.`
      : `The server cannot listen on ${host}:${port} (${code}).`
  if (code === 'EADDRINUSE' && !portGiven) {
    return { status: 'warning', message, hint: '`service start` chooses the next free port.', details }
  }
  return { status: 'broken', message, hint: 'Choose another with --port, SERVICE_PORT or config.json.', details }
}

/** Tries to listen on a port. Returns the error code, or null on success. */
function tryToListen(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen(port, host, () => server.close(() => resolve(null)))
  })
}
