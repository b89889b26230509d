import { findPidNamespace } from './pid-namespace.ts'

/** What this machine offers to isolate runs. Each is probed when it is first needed. */
export interface Isolation {
  /** What starts a command in a PID namespace of its own; see `findPidNamespace`. */
  pidNamespace(): Promise<string[] | null>
}

export function createIsolation(): Isolation {
  let pidNamespace: Promise<string[] | null> | undefined
  return {
    pidNamespace: () => {
      pidNamespace ??= findPidNamespace()
      return pidNamespace
    },
  }
}
