import type { AccessContext } from '../../access/auth/sign-in.ts'
import type { Config } from '../../platform/config.ts'

/** The state of the runs when the server closed. */
export interface ServerEnd {
  /** The number of live runs. */
  liveRuns: number
  /** Whether they were stopped. If not, the next start adopts them. */
  wereStopped: boolean
}

/** A server in this process. Signals stop it. */
export interface ServerProcess {
  url: string
  ctx: AccessContext
  /** Stops the server as a signal does. */
  stop(): void
  /** Resolves once the server has closed. */
  ended: Promise<ServerEnd>
  /**
   * Runs work that sends requests to this server. If the work fails, the server
   * stops and this method throws the error. If a signal stops the server first,
   * it returns undefined.
   */
  during<T>(work: () => Promise<T>): Promise<T | undefined>
}

/**
 * Starts a server in this process. The program passes it to the commands: they
 * are clients and do not import the server.
 */
export type RunServer = (config: Config, options?: { keepRuns?: boolean }) => Promise<ServerProcess>
