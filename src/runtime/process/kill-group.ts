/** Kills a process group that this process started. Has no effect if the start failed or no process is left. */
export function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // the group has no process left
  }
}
