import { type Bubblewrap, findBubblewrap } from './bubblewrap.ts'
import { findPidNamespace } from './pid-namespace.ts'

/** The means of this machine to isolate runs. Each is probed at its first use. */
export interface Isolation {
  /**
   * Returns the program and arguments that start a command in its own PID
   * namespace; see `findPidNamespace`. If the probe cannot be completed, it
   * returns null and the next call probes again.
   */
  pidNamespace(): Promise<string[] | null>
  /** Returns the probed bubblewrap. While it does not work, each call probes again, since it may have been installed. */
  bubblewrap(): Promise<Bubblewrap>
}

/**
 * Creates the isolation of this machine.
 *
 * @param searchPath the PATH to search for bwrap, besides the folders of the system
 */
export function createIsolation(searchPath = ''): Isolation {
  let pidNamespace: Promise<string[] | null> | undefined
  let bubblewrap: Promise<Bubblewrap> | undefined
  return {
    pidNamespace() {
      pidNamespace ??= findPidNamespace().catch(() => {
        pidNamespace = undefined
        return null
      })
      return pidNamespace
    },
    async bubblewrap() {
      // Concurrent callers share one probe.
      bubblewrap ??= findBubblewrap(searchPath)
      let found: Bubblewrap | undefined
      try {
        found = await bubblewrap
        return found
      } finally {
        if (!found || 'missing' in found) bubblewrap = undefined
      }
    },
  }
}
