import { HEARTBEAT_SKILL } from '../../adapter/heartbeat-skill.ts'
import type { Context } from '../../platform/context.ts'
import type { SourceFiles } from '../../platform/source/files.ts'
import { digestOf, takeInventory } from './inventory.ts'
import { findBundledOutdated } from './queries.ts'
import { type ReadSkill, readSkills, type SkillSource } from './read-skills.ts'
import { putSkill } from './store.ts'

/** The namespace of the service's own skills. The namespace of a repository has two parts, so they never conflict. */
const SOURCE: SkillSource = { type: 'bundled', namespace: 'service', locator: null, ref: null }

/** The key of the skill that every agent has. */
export const HEARTBEAT_KEY = 'service/heartbeat'

function bundledFiles(): SourceFiles {
  const head =
    '---\nname: heartbeat\ndescription: The procedure of a heartbeat over the HTTP API. Every agent has it, in every run.\n---\n\n'
  return new Map([['SKILL.md', Buffer.from(head + HEARTBEAT_SKILL)]])
}

let skills: ReadSkill[] | undefined

/** Returns the skills that come with the service. They are parsed once, at the first use. */
const bundledSkills = (): ReadSkill[] => {
  skills ??= readSkills(bundledFiles(), SOURCE, null).skills
  return skills
}

/** Adds the bundled skills to a company. The activity of the company's creation covers them. */
export function addBundledSkills(ctx: Context, companyId: string): void {
  for (const skill of bundledSkills()) putSkill(ctx, companyId, skill)
}

/** Updates the bundled skills of all companies to this version of the service. */
export async function refreshBundledSkills(ctx: Context): Promise<void> {
  // The digest needs no YAML parser, which would take 20 ms of each start.
  const digest = digestOf(takeInventory(bundledFiles()))
  const outdated = findBundledOutdated(ctx.db, { key: HEARTBEAT_KEY, digest })
  if (outdated.length === 0) return
  const skills = bundledSkills()
  await ctx.write(() => {
    for (const { company_id } of outdated) for (const skill of skills) putSkill(ctx, company_id, skill)
  })
}
