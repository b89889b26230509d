import { findBubblewrap } from '../../runtime/isolation/bubblewrap.ts'
import { findPidNamespace } from '../../runtime/isolation/pid-namespace.ts'
import type { Check, Finding, Patient } from './check.ts'

/** What isolates runs on this machine. */
export const isolationCheck: Check = {
  id: 'isolation',
  title: 'Isolation of runs',
  look: async (patient) => [await lookForSandbox(patient), await lookForNamespace(patient)],
}

/** A sandbox that the instance is to use must work. Otherwise only agents with a setting of their own need it. */
async function lookForSandbox({ sandbox, environment }: Patient): Promise<Finding> {
  const found = await findBubblewrap(environment.PATH ?? '')
  const details = { sandbox, ...found }
  if (!('missing' in found)) {
    const message = `bubblewrap ${found.version} works; the sandbox is ${sandbox === 'off' ? 'off' : 'on'}.`
    return { status: 'ok', message, details }
  }
  if (sandbox === 'off') return { status: 'ok', message: `The sandbox is off. ${found.missing}`, details }
  return { status: 'broken', message: `${found.missing} No run starts without its sandbox.`, hint: found.hint, details }
}

async function lookForNamespace({ pidNamespace }: Patient): Promise<Finding> {
  const isFound = (await findPidNamespace().catch(() => null)) !== null
  const details = { pidNamespace, isFound }
  if (!pidNamespace) return { status: 'ok', message: 'PID namespaces are turned off (config.json).', details }
  if (isFound) return { status: 'ok', message: 'Each run gets a PID namespace of its own.', details }
  const message = 'This machine offers no PID namespace without root: a process that hides can survive its run.'
  const hint = 'Install util-linux 2.34 and coreutils 8.31 or newer, and allow user namespaces. On macOS there is none.'
  return { status: 'warning', message, hint, details }
}
