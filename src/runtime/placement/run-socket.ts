import { rmSync } from 'node:fs'
import { createServer } from 'node:http'
import path from 'node:path'
import type { Handler } from '../../http/handler.ts'
import { createRequestListener } from '../../http/request-listener.ts'
import { errorResponse } from '../../http/response.ts'
import { AppError } from '../../platform/errors.ts'
import type { Log } from '../../platform/log.ts'
import { socketFolder } from './ssh-connection.ts'

/** A socket that accepts only requests of runs. */
export interface RunSocket {
  /** Opens the socket if it is not open. @returns its path */
  open(): Promise<string>
  close(): void
}

const ONLY_RUNS = new AppError(
  'unauthenticated',
  'This socket accepts only requests of runs. Send the token of the run as `Authorization: Bearer`.',
)

/**
 * Creates the socket that ssh placements forward to their machine. Every user
 * of that machine can connect to the forwarded port, and in local trusted mode
 * a request without a credential has the permissions of the board. The socket
 * therefore accepts only requests with a bearer token, and the health check.
 *
 * @param handler the API
 */
export function createRunSocket(dataDir: string, handler: Handler, log: Log): RunSocket {
  let opening: Promise<string> | undefined
  const server = createServer(
    { joinDuplicateHeaders: true },
    createRequestListener(async (request) => {
      const isRun = /^Bearer +eyJ[\w.-]+$/i.test(request.header('authorization') ?? '')
      if (!isRun && request.path !== '/api/health') return errorResponse(ONLY_RUNS)
      return handler(request)
    }, log),
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
