import { HEARTBEAT_SKILL } from '../../adapter/heartbeat-skill.ts'
import type { Context } from '../../platform/context.ts'
import { findBundledOutdated } from './queries.ts'
import { type ReadSkill, readSkills, type SkillSource } from './read-skills.ts'
import { putSkill } from './store.ts'

/** The namespace of the service's own skills. The namespace of a repository has two parts, so they never conflict. */
const SOURCE: SkillSource = { type: 'bundled', namespace: 'service', locator: null, ref: null }

/** The key of the skill that every agent has. */
export const HEARTBEAT_KEY = 'service/heartbeat'

/** Reads the skills that come with the service. */
function bundledSkills(): ReadSkill[] {
  const head =
    '---\nname: heartbeat\ndescription: The procedure of a heartbeat over the HTTP API. Every agent has it, in every run.\n---\n\n'
  return readSkills(new Map([['SKILL.md', Buffer.from(head + HEARTBEAT_SKILL)]]), SOURCE, null).skills
}

/** Adds the bundled skills to a company. The activity of the company's creation covers them. */
export function addBundledSkills(ctx: Context, companyId: string): void {
  for (const skill of bundledSkills()) putSkill(ctx, companyId, skill)
}

/** Updates the bundled skills of all companies to this version of the service. */
export async function refreshBundledSkills(ctx: Context): Promise<void> {
  for (const skill of bundledSkills()) {
    const outdated = findBundledOutdated(ctx.db, skill)
    if (outdated.length === 0) continue
    await ctx.write(() => {
      for (const { company_id } of outdated) putSkill(ctx, company_id, skill)
    })
  }
}
