import { type Bubblewrap, findBubblewrap } from './bubblewrap.ts'
import { findPidNamespace } from './pid-namespace.ts'

/** What this machine offers to isolate runs. Each is probed when it is first needed. */
export interface Isolation {
  /**
   * Returns what starts a command in a PID namespace of its own; see
   * `findPidNamespace`. If a probe cannot be completed, the result is null and
   * the next call probes again.
   */
  pidNamespace(): Promise<string[] | null>
  /** Probed again as long as it does not work: somebody may install it. */
  bubblewrap(): Promise<Bubblewrap>
}

/** @param searchPath where bwrap is looked for, besides the folders of the system */
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
      // One probe for all runs that wait for it.
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
