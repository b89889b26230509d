import { findBubblewrap } from '../../runtime/isolation/bubblewrap.ts'
import { findPidNamespace } from '../../runtime/isolation/pid-namespace.ts'
import type { Check, Finding, Installation } from './check.ts'

/** Checks the sandbox and the PID namespaces of this machine. */
export const isolationCheck: Check = {
  id: 'isolation',
  title: 'Isolation of runs',
  run: async (installation) => [await checkSandbox(installation), await checkNamespace(installation)],
}

/** Checks bubblewrap. A failure is an error only if the instance uses the sandbox by default. */
async function checkSandbox({ sandbox, environment }: Installation): Promise<Finding> {
  const found = await findBubblewrap(environment.PATH ?? '')
  const details = { sandbox, ...found }
  if (!('missing' in found)) {
    const message = `bubblewrap ${found.version} works; the sandbox is ${sandbox === 'off' ? 'off' : 'on'}.`
    if (found.bindsDescriptors) return { status: 'ok', message, details }
    const risk = 'It has no --bind-fd: a run can replace a folder by a link while another run starts.'
    return { status: 'warning', message: `${message} ${risk}`, hint: 'Install bubblewrap 0.10 or newer.', details }
  }
  if (sandbox === 'off') return { status: 'ok', message: `The sandbox is off. ${found.missing}`, details }
  return { status: 'broken', message: `${found.missing} No run starts without its sandbox.`, hint: found.hint, details }
}

async function checkNamespace({ pidNamespace }: Installation): Promise<Finding> {
  const isFound = (await findPidNamespace().catch(() => null)) !== null
  const details = { pidNamespace, isFound }
  if (!pidNamespace) return { status: 'ok', message: 'PID namespaces are turned off (config.json).', details }
  if (isFound) return { status: 'ok', message: 'Each run has its own PID namespace.', details }
  const message =
    'This machine supports no PID namespace without root, so a process that escapes detection can survive its run.'
  const hint =
    'Install util-linux 2.34 and coreutils 8.31 or newer, and allow user namespaces. macOS has no PID namespaces.'
  return { status: 'warning', message, hint, details }
}
