/** One live process, as the process table listed it. */
export interface ProcessEntry {
  pid: number
  parent: number
  group: number
  session: number
  startTime: string
  /** Its number in a PID namespace directly below this one, which is that of its run; else null. Set by `runTree`. */
  namespacePid?: number | null
}
