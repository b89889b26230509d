import { rmSync } from 'node:fs'
import { createServer } from 'node:http'
import path from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { socketFolder } from './ssh-connection.ts'

/** A socket on which only runs are served. */
export interface RunSocket {
  /** Opens it, once. @returns its path */
  open(): Promise<string>
  close(): void
}

/**
 * Creates the socket that ssh placements forward to their machine. Everybody
 * on that machine can connect to the forwarded port, and in local trusted mode
 * a request without a credential is the board. So this socket serves only
 * requests with a bearer token, and the health check.
 *
 * @param fetch the API
 * @param host the `Host` that the API knows
 */
export function createRunSocket(
  dataDir: string,
  fetch: (request: Request) => Response | Promise<Response>,
  host: string,
): RunSocket {
  let opening: Promise<string> | undefined
  const server = createServer(
    getRequestListener(
      async (request) => {
        const { pathname } = new URL(request.url)
        const isRun = /^Bearer +eyJ[\w.-]+$/i.test(request.headers.get('authorization') ?? '')
        if (!isRun && pathname !== '/api/health') {
          const error = 'Only runs are served here: send the token of the run as `Authorization: Bearer`.'
          return Response.json({ error, code: 'unauthenticated' }, { status: 401 })
        }
        return fetch(request)
      },
      { hostname: host },
    ),
  )
  server.unref()
  return {
    open() {
      opening ??= new Promise((resolve, reject) => {
        const file = path.join(socketFolder(dataDir), 'runs.sock')
        // One server has the data directory, so a socket that is there is left from a server before.
        rmSync(file, { force: true })
        server.once('error', reject)
        server.listen(file, () => resolve(file))
      })
      return opening
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
