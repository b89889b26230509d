import type { AccessContext } from '../../access/auth/sign-in.ts'
import type { Config } from '../../platform/config.ts'

/** A server that runs in this process and that signals stop. */
export interface ServerProcess {
  url: string
  ctx: AccessContext
  /** Stops the server as a signal does. */
  stop(): void
  /** Resolves once the server has closed. */
  ended: Promise<void>
  /**
   * Runs work that sends requests to this server. If the work fails, the server
   * stops and the error is thrown. If a signal stops the server first, there is
   * no result.
   */
  during<T>(work: () => Promise<T>): Promise<T | undefined>
}

/**
 * Starts a server in this process. The program passes it to the commands: they
 * are clients and do not import the server.
 */
export type RunServer = (config: Config, options?: { keepRuns?: boolean }) => Promise<ServerProcess>
