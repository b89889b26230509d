import { recordActivity } from '../../access/activity/record.ts'
import type { Caller } from '../../access/caller/caller.ts'
import type { Context } from '../../platform/context.ts'
import { unprocessable } from '../../platform/errors.ts'
import { updateAgent } from '../agent/queries.ts'
import { getSkill } from '../skill/get.ts'
import { deleteSkillRow, listAgentsWithSkill } from '../skill/queries.ts'
import type { SkillRow } from '../skill/skill.ts'

/** Deletes a skill and removes it from the desired skills of all agents. The files of a live run remain until it ends. */
export function deleteSkill(ctx: Context, caller: Caller, id: string): SkillRow {
  const skill = getSkill(ctx, caller, id)
  if (skill.source_type === 'bundled') {
    throw unprocessable('skillId', `${skill.key} is bundled with the service for every agent, so it cannot be deleted`)
  }
  for (const agent of listAgentsWithSkill(ctx.db, { companyId: skill.company_id, key: skill.key })) {
    const desired = (JSON.parse(agent.desired_skills) as string[]).filter((key) => key !== skill.key)
    updateAgent(ctx.db, agent.id, { desired_skills: JSON.stringify(desired), updated_at: ctx.now })
    recordActivity(ctx, caller, {
      companyId: agent.company_id,
      action: 'agent.skills_changed',
      entity: { type: 'agent', id: agent.id },
      agentId: agent.id,
      details: { name: agent.name, desiredSkills: desired },
    })
  }
  deleteSkillRow(ctx.db, skill.id)
  recordActivity(ctx, caller, {
    companyId: skill.company_id,
    action: 'skill.deleted',
    entity: { type: 'skill', id: skill.id },
    details: { key: skill.key },
  })
  return skill
}
