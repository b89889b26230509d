import * as v from 'valibot'
import { agent, board, ceo } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import { decodeCursor, LIST_QUERY, Page } from '../../http/list.ts'
import { AGENT_QUERY } from '../agent/show.ts'
import { manager } from '../agent/who.ts'
import { getSkill, getSkillFile } from './get.ts'
import { importSkills } from './import.ts'
import { SkillImport, SkillImportResult } from './import-body.ts'
import { countSkills, listAgentsWithSkill, listSkills } from './queries.ts'
import { deleteSkill } from './remove.ts'
import { Skill, SkillDetail, SkillFile, toSkill, toSkillFile } from './skill.ts'
import { SkillSync, SyncedSkills, syncSkills } from './sync.ts'

export const skillRoutes = [
  route({
    id: 'skills.list',
    method: 'GET',
    path: '/api/companies/:companyId/skills',
    summary: "List a company's skills by key, the bundled one among them",
    who: [board, agent],
    query: v.object(LIST_QUERY),
    responses: { 200: v.array(Skill) },
    run: (ctx, { params: { companyId }, query: { limit, after, count } }) => {
      const rows = listSkills(ctx.db, { companyId, after: decodeCursor(after, ['string'])?.[0], limit })
      const total = count === 'true' ? countSkills(ctx.db, { companyId }) : undefined
      return Page.of(rows, { limit, cursorOf: (row) => [row.key], show: toSkill, total })
    },
  }),
  route({
    id: 'skills.import',
    method: 'POST',
    path: '/api/companies/:companyId/skills/import',
    summary: 'Import skills: files, a folder, or a public repository on GitHub',
    description:
      'Each folder with a SKILL.md is a skill, up to the next SKILL.md below it. All of them are imported or none. A skill whose key is there already is updated. A folder of the machine is for the board only.',
    who: [board, ceo, manager],
    body: SkillImport,
    // Base64 is a third larger than what it stands for.
    bodyLimit: 8 * 1024 * 1024,
    responses: { 201: SkillImportResult },
    run: (ctx, { caller, params, body }) => importSkills(ctx, caller, params.companyId, body),
  }),
  route({
    id: 'skills.get',
    method: 'GET',
    path: '/api/skills/:skillId',
    summary: 'Get a skill with its files inventory and the agents that are to have it',
    who: [board, agent],
    responses: { 200: SkillDetail },
    run: (ctx, { caller, params }) => {
      const skill = getSkill(ctx, caller, params.skillId)
      const agents = listAgentsWithSkill(ctx.db, { companyId: skill.company_id, key: skill.key })
      return { ...toSkill(skill), usedByAgents: agents.map(({ id, name }) => ({ id, name })) }
    },
  }),
  route({
    id: 'skills.file',
    method: 'GET',
    path: '/api/skills/:skillId/files',
    summary: "Get one of a skill's files: its text, or what is no text in base64",
    who: [board, agent],
    query: v.object({ path: v.optional(v.pipe(v.string(), v.description('As in the inventory.')), 'SKILL.md') }),
    responses: { 200: SkillFile },
    run: (ctx, { caller, params, query }) => toSkillFile(getSkillFile(ctx, caller, params.skillId, query.path)),
  }),
  route({
    id: 'skills.delete',
    method: 'DELETE',
    path: '/api/skills/:skillId',
    summary: 'Delete a skill, also from the agents that were to have it',
    who: [board, ceo, manager],
    responses: { 200: Skill },
    run: (ctx, { caller, params }) => ctx.write(() => toSkill(deleteSkill(ctx, caller, params.skillId))),
  }),
  route({
    id: 'agents.syncSkills',
    method: 'POST',
    path: '/api/agents/:agentId/skills/sync',
    summary: "Write an agent's skills to the folder that its runs see, and say what is there",
    description:
      'For the board, the managers above the agent, and the agent itself, which may not change the set. Every run does the same before it starts.',
    who: [board, agent],
    query: AGENT_QUERY,
    body: SkillSync,
    bodyOptional: true,
    responses: { 200: SyncedSkills },
    run: (ctx, { caller, params, query, body }) =>
      syncSkills(ctx, caller, { agentId: params.agentId, companyId: query.companyId }, body),
  }),
]
