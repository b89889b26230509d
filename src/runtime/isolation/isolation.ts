import { type Bubblewrap, findBubblewrap } from './bubblewrap.ts'
import { findPidNamespace } from './pid-namespace.ts'

/** What this machine offers to isolate runs. Each is probed when it is first needed. */
export interface Isolation {
  /** What starts a command in a PID namespace of its own; see `findPidNamespace`. */
  pidNamespace(): Promise<string[] | null>
  /** Probed again as long as it does not work: somebody may install it. */
  bubblewrap(): Promise<Bubblewrap>
}

/** @param searchPath where bwrap is looked for, besides the folders of the system */
export function createIsolation(searchPath = ''): Isolation {
  let pidNamespace: Promise<string[] | null> | undefined
  let bubblewrap: Bubblewrap | undefined
  return {
    pidNamespace: () => {
      pidNamespace ??= findPidNamespace()
      return pidNamespace
    },
    async bubblewrap() {
      if (!bubblewrap || 'missing' in bubblewrap) bubblewrap = await findBubblewrap(searchPath)
      return bubblewrap
    },
  }
}
