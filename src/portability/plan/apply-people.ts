import { adapterOf } from '../../adapter/registry.ts'
import { changePermissions } from '../../organization/agent/update.ts'
import type { LongChange } from '../../platform/database/long-write.ts'
import { hireAgent } from '../../work/staffing/hire.ts'
import { storeKept } from '../company/kept.ts'
import { insertPart } from '../company/queries.ts'
import { createSkill } from '../company/skills.ts'
import type { Application, Destination } from './application.ts'
import { newAgentOf } from './new-agent.ts'
import { parentsFirst } from './parents-first.ts'

export function* createSkills({ ctx, actor, companyId, content, references }: Destination): LongChange<void> {
  yield* references.createEach(
    'skill',
    content.skills,
    (skill) => skill.slug,
    (skill, step) => createSkill(ctx, actor, companyId, { ...skill, slug: step.newSlug }).id,
  )
}

/** Hires the agents, managers first. Each has its id, and the file of its instructions, already. */
export function* createAgents(
  { ctx, actor, companyId, content, references }: Destination,
  prepared: Application['agents'],
): LongChange<void> {
  yield* references.createEach(
    'agent',
    parentsFirst(content.agents, (agent) => agent.reportsTo),
    (agent) => agent.slug,
    (agent, step) => {
      const { id, instructionsFile } = prepared.get(agent.slug)!
      const hire = newAgentOf(agent, actor)
      const key = adapterOf(hire.adapterType)?.instructionsKey
      const otherSkills = agent.skills.filter((slug) => references.skillKeys([slug]).length === 0)
      const withInstructions = instructionsFile !== null && key
      const { agent: hired } = hireAgent(
        ctx,
        actor,
        companyId,
        {
          ...hire,
          name: step.as,
          reportsTo: references.agentId(agent.reportsTo),
          desiredSkills: references.skillKeys(agent.skills),
          ...(withInstructions && { adapterConfig: { ...hire.adapterConfig, [key]: instructionsFile } }),
        },
        { id, urlKey: step.newSlug },
      )
      if (actor.type === 'board') changePermissions(ctx, actor, hired, agent.permissions)
      storeKept(ctx, companyId, id, { ...agent.kept, otherSkills })
      return id
    },
  )
}

/** Stores the teams as parts of the package. They have no table, because only an export uses them. */
export function* createTeams({ ctx, companyId, content, references }: Destination): LongChange<void> {
  yield* references.createEach(
    'team',
    content.teams,
    (team) => team.slug,
    (team, step) => {
      const { name, description, tags, body, skills, others, kept: remaining } = team
      const agents = team.agents.flatMap((slug) => references.agentId(slug) ?? [])
      const manager = references.agentId(team.manager)
      const stored = { name, description, tags, body, skills, others, kept: remaining, manager, agents }
      const path = `teams/${step.newSlug}/TEAM.md`
      insertPart(ctx.db, { company_id: companyId, path, kind: 'team', content: Buffer.from(JSON.stringify(stored)) })
      return null
    },
  )
}
