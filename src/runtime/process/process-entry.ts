/** One live process, as the process table listed it. */
export interface ProcessEntry {
  pid: number
  parent: number
  group: number
  session: number
  startTime: string
}
