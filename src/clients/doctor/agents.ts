import * as v from 'valibot'
import type { Adapter } from '../../adapter/adapter.ts'
import { ADAPTERS } from '../../adapter/registry.ts'
import { createProbe } from '../../runtime/process/capabilities.ts'
import type { Check, Finding } from './check.ts'

/** Which agent programs are on this machine. None of them is needed by all, so a missing one breaks nothing. */
export const agentsCheck: Check = {
  id: 'agents',
  title: 'Agent programs',
  look({ environment }) {
    const probe = createProbe(environment)
    return Promise.all(ADAPTERS.filter((adapter) => adapter.installHint !== null).map((one) => find(one, probe)))
  },
}

async function find(adapter: Adapter, probe: ReturnType<typeof createProbe>): Promise<Finding> {
  const { command } = v.parse(adapter.config, {}) as { command: string }
  const found = await probe(command, adapter.helpArgs ?? undefined)
  const details = { adapterType: adapter.type, command, path: found?.path ?? null, version: found?.version ?? null }
  if (!found) {
    const message = `${command} was not found, which ${adapter.type} runs.`
    return { status: 'warning', message, hint: adapter.installHint!, details }
  }
  if (found.version === null && found.flags === null) {
    const message = `${command} is at ${found.path}, and answers neither --version nor --help.`
    return { status: 'warning', message, hint: `Run ${command} once by hand.`, details }
  }
  return { status: 'ok', message: `${command} ${found.version ?? ''} at ${found.path}`.replace('  ', ' '), details }
}
