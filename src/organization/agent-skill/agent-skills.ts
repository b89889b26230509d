import { hash } from 'node:crypto'
import type { Context } from '../../platform/context.ts'
import type { AgentRow } from '../agent/agent.ts'
import { HEARTBEAT_KEY } from '../skill/bundled.ts'
import { findSkillByKey, listSkillFiles } from '../skill/queries.ts'
import type { SkillRow } from '../skill/skill.ts'

/** A skill of an agent and its folder on disk. */
export interface AgentSkill {
  skill: SkillRow
  /** The name of the folder: the slug, or the whole key if two skills have the same slug. */
  folder: string
}

export interface SkillSet {
  skills: AgentSkill[]
  /** Desired keys that no skill of the company has. */
  missing: string[]
  /** Identifies all files of the set: equal digests mean equal files. */
  digest: string
}

/** Returns the skills of an agent by key: its desired skills and the bundled skill. */
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

/** Makes the folder a plugin of `claude`: each folder in it is a skill. Other programs ignore the file. */
const PLUGIN = Buffer.from(
  JSON.stringify({ name: 'service', version: '1.0.0', description: 'The skills of this agent', skills: ['./'] }),
)

/** Loads all files of a set by their paths on disk. */
export function filesOfSet(ctx: Context, { skills }: SkillSet): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>([['.claude-plugin/plugin.json', PLUGIN]])
  for (const { skill, folder } of skills) {
    for (const { path, content } of listSkillFiles(ctx.db, skill.id)) files.set(`${folder}/${path}`, content)
  }
  return files
}
