/** Describes where a run in a placement executes, or why it waits there. Null for the machine of the server. */
export function placeOf(run: {
  placement: string | null
  node: string | null
  waitingBecause: string | null
}): string | null {
  if (run.placement === null) return null
  if (run.waitingBecause !== null) return `waits in ${run.placement}: ${run.waitingBecause}`
  return run.node === null ? `in ${run.placement}` : `in ${run.placement} on ${run.node}`
}
