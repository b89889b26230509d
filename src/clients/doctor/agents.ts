import * as v from 'valibot'
import type { Adapter } from '../../adapter/adapter.ts'
import { ADAPTERS } from '../../adapter/registry.ts'
import { createProbe } from '../../runtime/process/capabilities.ts'
import type { Check, Finding } from './check.ts'

/** Finds the agent programs of this machine. A missing one is only a warning, because no user needs all of them. */
export const agentsCheck: Check = {
  id: 'agents',
  title: 'Agent programs',
  run({ environment }) {
    const probe = createProbe(environment)
    return Promise.all(ADAPTERS.filter((adapter) => adapter.installHint !== null).map((one) => find(one, probe)))
  },
}

async function find(adapter: Adapter, probe: ReturnType<typeof createProbe>): Promise<Finding> {
  const { command } = v.parse(adapter.config, {}) as { command: string }
  const found = await probe(command, adapter.helpArgs ?? undefined)
  const details = { adapterType: adapter.type, command, path: found?.path ?? null, version: found?.version ?? null }
  if (!found) {
    const message = `The program ${command} of the adapter ${adapter.type} was not found.`
    return { status: 'warning', message, hint: adapter.installHint!, details }
  }
  if (found.version === null && found.flags === null) {
    const message = `${command} at ${found.path} prints nothing for --version and --help.`
    return { status: 'warning', message, hint: `Run ${command} once in a terminal.`, details }
  }
  return { status: 'ok', message: `${command} ${found.version ?? ''} at ${found.path}`.replace('  ', ' '), details }
}
