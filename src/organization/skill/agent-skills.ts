import { hash } from 'node:crypto'
import type { Context } from '../../platform/context.ts'
import type { AgentRow } from '../agent/agent.ts'
import { HEARTBEAT_KEY } from './bundled.ts'
import { findSkillByKey, listSkillFiles } from './queries.ts'
import type { SkillRow } from './skill.ts'

/** A skill as an agent gets it. */
export interface AgentSkill {
  skill: SkillRow
  /** The name of its folder: the slug, or all of the key where two have the same slug. */
  folder: string
}

export interface SkillSet {
  skills: AgentSkill[]
  /** Keys that the agent is to have and that no skill of the company has. */
  missing: string[]
  /** Stands for everything that is to be on disk. */
  digest: string
}

/** The skills that an agent has: the ones desired for it, and the bundled one, by key. */
export function skillSetOf(ctx: Context, agent: Pick<AgentRow, 'company_id' | 'desired_skills'>): SkillSet {
  const keys = new Set([HEARTBEAT_KEY, ...(JSON.parse(agent.desired_skills) as string[])])
  const found = [...keys].sort().map((key) => ({
    key,
    skill: findSkillByKey(ctx.db, { companyId: agent.company_id, key }),
  }))
  const rows = found.flatMap(({ skill }) => (skill ? [skill] : []))
  const skills = rows.map((skill) => ({ skill, folder: folderOf(skill, rows) }))
  return {
    skills,
    missing: found.filter(({ skill }) => !skill).map(({ key }) => key),
    digest: hash('sha256', JSON.stringify(skills.map(({ skill, folder }) => [folder, skill.digest]))),
  }
}

const folderOf = (skill: SkillRow, all: readonly SkillRow[]) =>
  all.some((other) => other !== skill && other.slug === skill.slug) ? skill.key.replaceAll('/', '--') : skill.slug

/** Every file of a set by its path on disk. */
export function filesOfSet(ctx: Context, { skills }: SkillSet): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>()
  for (const { skill, folder } of skills) {
    for (const { path, content } of listSkillFiles(ctx.db, skill.id)) files.set(`${folder}/${path}`, content)
  }
  return files
}
