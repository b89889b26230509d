import path from 'node:path'
import { adapterOf } from '../../adapter/registry.ts'
import { resolveAgentPath } from '../../organization/agent/allowed-folder.ts'
import { unapprovedPaths } from '../../organization/agent/approved-config.ts'
import { configOf } from '../../organization/agent/configuration.ts'
import { listLiveAgents } from '../../organization/agent/queries.ts'
import { compare } from '../../platform/compare.ts'
import type { Context } from '../../platform/context.ts'
import { createPause } from '../../platform/pause.ts'
import { readInstructions } from '../company/instructions.ts'
import type { PackageWarning } from '../source/warning.ts'

/** The instructions of the agents of a company, by the id of the agent. */
export interface Instructions {
  texts: ReadonlyMap<string, string>
  warnings: PackageWarning[]
}

/**
 * Reads the instructions of the agents of a company from their files.
 *
 * @param anywhere whether files outside the agents' own folders may be read
 */
export async function collectInstructions(ctx: Context, companyId: string, anywhere: boolean): Promise<Instructions> {
  const texts = new Map<string, string>()
  const warnings: PackageWarning[] = []
  const pause = createPause()
  const agents = listLiveAgents(ctx.db, { companyId, now: ctx.now }).sort((a, b) => compare(a.url_key, b.url_key))
  for (const agent of agents) {
    await pause()
    const key = adapterOf(agent.adapter_type)?.instructionsKey
    const file = key && configOf(ctx, agent).adapterConfig[key]
    if (typeof file !== 'string') continue
    // A path that an agent set is read only if a run may read it.
    const place = unapprovedPaths(agent).includes(key as string)
      ? await resolveAgentPath(ctx, agent, file)
      : { path: path.resolve(file), access: 'allowed' }
    const text = place.access === 'allowed' ? await readInstructions(ctx.config, place.path, anywhere) : undefined
    if (text !== undefined) texts.set(agent.id, text)
    else {
      const message = 'The instructions file is not readable, or may not be exported. The agent is exported without it.'
      warnings.push({ code: 'left_out', path: `agents/${agent.url_key}/AGENTS.md`, message })
    }
  }
  return { texts, warnings }
}
