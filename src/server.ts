import { accessSync, constants, mkdirSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { type Clock, systemClock } from './clock.ts'
import type { Config } from './config.ts'
import { type Context, createContext } from './context.ts'
import { lockDataDir } from './database/lock.ts'
import { openDatabase } from './database/open.ts'
import { AppError } from './errors.ts'
import { createApp } from './http/app.ts'
import { createGate, hostsOf, SECURITY_HEADERS } from './http/gate.ts'
import type { Log } from './log.ts'
import { createRunTokens, readRunTokenKey } from './run/token.ts'

export interface RunningServer {
  url: string
  ctx: Context
  /** Drains, stops, and gives the data directory back. */
  close(): Promise<void>
}

/**
 * Boots the whole server: locks and opens the database, listens, and only then
 * looks after what a server before it left.
 *
 * @throws DataDirTaken when another server has the data directory
 */
export async function startServer(config: Config, log: Log, clock: Clock = systemClock): Promise<RunningServer> {
  makeDataDir(config.dataDir)
  const lock = lockDataDir(config.dataDir)
  const closers: (() => void | Promise<void>)[] = [() => lock.release()]
  const closeAll = async () => {
    for (const close of closers.reverse()) await close()
  }
  try {
    const sqlite = openDatabase(path.join(config.dataDir, 'service.db'), {
      backupDir: path.join(config.dataDir, 'backups'),
      now: clock.now(),
    })
    closers.push(() => {
      sqlite.close()
    })
    const tokens = createRunTokens(readRunTokenKey(path.join(config.dataDir, 'keys')))
    const ctx = createContext({ sqlite, clock, config, log, tokens })
    closers.push(ctx.flush)

    const server = createServer()
    const port = await listen(server, config)
    closers.push(() => closeServer(server))
    server.on('request', gated(createApp(ctx).fetch, hostsOf(port, config.allowedHosts)))
    const url = `http://${urlHost(config.host)}:${port}`
    lock.announce({ pid: process.pid, url, instance: config.instance })
    return { url, ctx, close: closeAll }
  } catch (error) {
    await closeAll()
    throw error
  }
}

function makeDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    accessSync(dataDir, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new AppError(
      'validation_failed',
      `The data directory ${dataDir} cannot be written (${(error as NodeJS.ErrnoException).code}). Choose another with --data-dir.`,
    )
  }
}

/** How many ports after a busy default one are tried. */
const TRIED_PORTS = 100

/** @returns the port: the one asked for, or the next free one when it was only a default */
async function listen(server: Server, config: Config): Promise<number> {
  const last = config.portGiven ? config.port : Math.min(config.port + TRIED_PORTS, 65_535)
  for (let port = config.port; ; port++) {
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen(port, config.host, () => {
          server.off('error', reject)
          resolve()
        })
      })
      return (server.address() as AddressInfo).port
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error
      if (port < last) continue
      throw new AppError('conflict', `Port ${port} of ${config.host} is ${code === 'EACCES' ? 'not allowed' : 'busy'}.`)
    }
  }
}

/** Puts the gate before the app: what it refuses is neither routed nor read. */
function gated(fetch: Parameters<typeof getRequestListener>[0], hosts: readonly string[]) {
  const gate = createGate(hosts)
  const listener = getRequestListener(fetch)
  return (request: IncomingMessage, response: ServerResponse) => {
    for (const [name, value] of SECURITY_HEADERS) response.setHeader(name, value)
    const refusal = gate({ method: request.method!, target: request.url!, rawHeaders: request.rawHeaders })
    if (!refusal) return listener(request, response)
    const { message, code, status } = refusal
    response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', Connection: 'close' })
    return response.end(JSON.stringify({ error: message, code, requestId: crypto.randomUUID() }))
  }
}

const urlHost = (host: string) => (host.includes(':') ? `[${host.replace(/^\[|\]$/g, '')}]` : host)

/** Ends keep-alive connections that are idle, and waits for the answers under way. */
function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
  })
}
