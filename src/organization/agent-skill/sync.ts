import path from 'node:path'
import * as v from 'valibot'
import { recordActivity } from '../../access/activity/record.ts'
import type { Caller } from '../../access/caller/caller.ts'
import * as field from '../../http/fields.ts'
import type { Config } from '../../platform/config.ts'
import type { Context } from '../../platform/context.ts'
import { forbidden } from '../../platform/errors.ts'
import type { AgentRow } from '../agent/agent.ts'
import { getAgent } from '../agent/get.ts'
import { findAgent, isAbove } from '../agent/queries.ts'
import { assertNotTerminated, setDesiredSkills } from '../agent/update.ts'
import { listLiveRuns } from '../run/queries.ts'
import { HEARTBEAT_KEY } from '../skill/bundled.ts'
import type { InventoryEntry } from '../skill/inventory.ts'
import { resolveSkills } from '../skill/resolve.ts'
import type { SkillRow } from '../skill/skill.ts'
import { filesOfSet, type SkillSet, skillSetOf } from './agent-skills.ts'
import { materialise, removeOthers } from './materialise.ts'

export const SkillSync = v.strictObject({
  desiredSkills: v.optional(
    v.pipe(
      v.array(field.reference),
      v.maxLength(200),
      v.description('Ids, keys or unique slugs. Default: the set does not change.'),
    ),
  ),
})
export type SkillSync = v.InferOutput<typeof SkillSync>

const SkillOfAgent = v.strictObject({
  skillId: field.id,
  key: v.string(),
  slug: v.string(),
  name: v.string(),
  description: v.nullable(v.string()),
  required: v.pipe(v.boolean(), v.description('Whether every agent has this skill.')),
  isReference: v.pipe(v.boolean(), v.description('Whether the text of the skill is in another repository.')),
})

const missing = v.pipe(v.array(v.string()), v.description('Desired keys that no skill of the company has.'))

/** The skills that an agent has in its runs. */
export const AgentSkills = v.strictObject({
  agentId: field.id,
  desiredSkills: v.array(v.string()),
  skills: v.array(SkillOfAgent),
  missing,
})

const Materialised = v.strictObject({
  ...SkillOfAgent.entries,
  path: v.pipe(v.string(), v.description('The absolute path of the folder.')),
  files: v.array(v.string()),
})

/** The skills of an agent on disk. */
export const SyncedSkills = v.strictObject({
  agentId: field.id,
  desiredSkills: v.array(v.string()),
  directory: v.pipe(v.string(), v.description('The value of SERVICE_SKILLS_DIR in its runs.')),
  changed: v.pipe(v.boolean(), v.description('Whether the server wrote files.')),
  skills: v.array(Materialised),
  missing,
})
export type SyncedSkills = v.InferOutput<typeof SyncedSkills>

/** Changes the desired skills of an agent, if the request has some, and updates its folder of skills. */
export async function syncSkills(
  ctx: Context,
  caller: Caller,
  ref: { agentId: string; companyId?: string | undefined },
  want: SkillSync,
): Promise<SyncedSkills> {
  const agentId = await ctx.write(() => {
    const agent = getAgent(ctx, caller, ref.agentId, ref.companyId)
    requireSyncer(ctx, caller, agent)
    assertNotTerminated(agent)
    if (want.desiredSkills) changeDesiredSkills(ctx, caller, agent, want.desiredSkills)
    recordActivity(ctx, caller, {
      companyId: agent.company_id,
      action: 'agent.skills_synced',
      entity: { type: 'agent', id: agent.id },
      agentId: agent.id,
      details: { name: agent.name },
    })
    return agent.id
  })
  return placeSkills(ctx, agentId)
}

/**
 * Writes the skills of an agent to a folder that is named after their content.
 * A change of the skills does not affect the folder of a run. The folders of other
 * sets are removed as soon as no run of the agent is live.
 *
 * @param forRun the run that is being prepared; it does not use another folder yet
 */
export async function placeSkills(ctx: Context, agentId: string, forRun?: string): Promise<SyncedSkills> {
  const { agent, set, directory } = wantedFolder(ctx, agentId)
  const { instance } = ctx.config
  const changed = await materialise(directory, filesOfSet(ctx, set), instance)
  const isFree = () =>
    listLiveRuns(ctx.db, { agentId }).every((run) => run.id === forRun) &&
    wantedFolder(ctx, agentId).directory === directory
  await removeOthers(directory, instance, isFree).catch((error) =>
    // An old folder does not affect the run.
    ctx.log.error('The old skill folders of an agent were not removed.', { agentId, error: String(error) }),
  )
  return {
    agentId,
    desiredSkills: JSON.parse(agent.desired_skills),
    directory,
    changed,
    skills: toMaterialised(set, directory),
    missing: set.missing,
  }
}

/** Returns the result of `placeSkills` without writing files. */
export function plannedSkills(ctx: Context, agentId: string): Pick<SyncedSkills, 'directory' | 'skills'> {
  const { set, directory } = wantedFolder(ctx, agentId)
  return { directory, skills: toMaterialised(set, directory) }
}

/** Returns the skills of an agent without writing files. */
export function skillsOf(ctx: Context, agent: AgentRow): v.InferOutput<typeof AgentSkills> {
  const set = skillSetOf(ctx, agent)
  return {
    agentId: agent.id,
    desiredSkills: JSON.parse(agent.desired_skills),
    skills: set.skills.map(({ skill }) => toSkillOfAgent(skill)),
    missing: set.missing,
  }
}

function wantedFolder(ctx: Context, agentId: string) {
  const agent = findAgent(ctx.db, { id: agentId })!
  const set = skillSetOf(ctx, agent)
  const directory = path.join(skillsFolder(ctx.config, agent.company_id), agent.id, set.digest.slice(0, 16))
  return { agent, set, directory }
}

const skillsFolder = (config: Config, companyId: string) => path.join(config.dataDir, 'skills', companyId)

const toMaterialised = (set: SkillSet, directory: string): SyncedSkills['skills'] =>
  set.skills.map(({ skill, folder }) => ({
    ...toSkillOfAgent(skill),
    path: path.join(directory, folder),
    files: (JSON.parse(skill.file_inventory) as InventoryEntry[]).map((file) => file.path),
  }))

const toSkillOfAgent = (skill: SkillRow): v.InferOutput<typeof SkillOfAgent> => ({
  skillId: skill.id,
  key: skill.key,
  slug: skill.slug,
  name: skill.name,
  description: skill.description,
  required: skill.key === HEARTBEAT_KEY,
  isReference: skill.is_reference === 1,
})

function requireSyncer(ctx: Context, caller: Caller, agent: AgentRow): void {
  if (caller.type !== 'agent' || caller.agentId === agent.id) return
  if (isAbove(ctx.db, { managerId: caller.agentId, agentId: agent.id })) return
  throw forbidden(`Only ${agent.name} itself, the managers above it and the board may sync its skills.`)
}

/** Changes the desired skills. Only the board and the managers above an agent may. */
function changeDesiredSkills(ctx: Context, caller: Caller, agent: AgentRow, refs: readonly string[]): void {
  const keys = resolveSkills(ctx, agent.company_id, refs)
  const isSame = JSON.stringify(keys.toSorted()) === JSON.stringify(JSON.parse(agent.desired_skills).toSorted())
  if (isSame) return
  if (caller.type === 'agent' && caller.agentId === agent.id) {
    throw forbidden('You may sync your skills but not change which they are. Ask your manager or the board.')
  }
  setDesiredSkills(ctx, caller, agent, keys)
}
