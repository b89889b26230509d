import { rmSync } from 'node:fs'
import { createServer } from 'node:http'
import path from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { socketFolder } from './ssh-connection.ts'

/** A socket that accepts only requests of runs. */
export interface RunSocket {
  /** Opens the socket if it is not open. @returns its path */
  open(): Promise<string>
  close(): void
}

/**
 * Creates the socket that ssh placements forward to their machine. Every user
 * of that machine can connect to the forwarded port, and in local trusted mode
 * a request without a credential has the permissions of the board. The socket
 * therefore accepts only requests with a bearer token, and the health check.
 *
 * @param fetch the API
 * @param host the `Host` header that the API accepts
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
          const error =
            'This socket accepts only requests of runs. Send the token of the run as `Authorization: Bearer`.'
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
        // Only one server uses the data directory, so an existing socket is from a previous server.
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
