/** One live process of the process table. */
export interface ProcessEntry {
  pid: number
  parent: number
  group: number
  session: number
  startTime: string
  /** Its pid in the PID namespace of its run, directly below the server's; null outside such a namespace. Set by `runTree`. */
  namespacePid?: number | null
}
