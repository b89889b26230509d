import * as v from 'valibot'
import { agent, board, ceo } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import { LIST_QUERY, readPage } from '../../http/list.ts'
import { getAgent } from '../agent/get.ts'
import { AGENT_QUERY } from '../agent/show.ts'
import { manager } from '../agent/who.ts'
import { FetchedSkills, fetchSkills } from '../skill/fetch.ts'
import { getSkill, getSkillFile } from '../skill/get.ts'
import { importSkills } from '../skill/import.ts'
import { SKILL_BODY_FIELDS, SkillImport, SkillImportResult, skillBodyJob } from '../skill/import-body.ts'
import { listAgentsWithSkill, selectSkills } from '../skill/queries.ts'
import { Skill, SkillDetail, SkillFile, toSkill, toSkillFile } from '../skill/skill.ts'
import { deleteSkill } from './remove.ts'
import { AgentSkills, SkillSync, SyncedSkills, skillsOf, syncSkills } from './sync.ts'

export const skillRoutes = [
  route({
    id: 'skills.list',
    method: 'GET',
    path: '/api/companies/:companyId/skills',
    summary: "List a company's skills by key, including the bundled skill",
    who: [board, agent],
    query: v.object(LIST_QUERY),
    responses: { 200: v.array(Skill) },
    run: (ctx, { params: { companyId }, query }) =>
      readPage(ctx.db, selectSkills({ companyId }), query, { by: 'key' }).map(toSkill),
  }),
  route({
    id: 'skills.import',
    method: 'POST',
    path: '/api/companies/:companyId/skills/import',
    summary: 'Import skills from files, a folder or a public GitHub repository',
    description:
      'Each folder with a SKILL.md is a skill. It contains the files below it, except those of a skill in a subfolder. The server imports all skills or none. A skill whose key exists already is updated. Only the board may import a folder of the machine.',
    who: [board, ceo, manager],
    body: SkillImport,
    // Base64 is a third larger than the bytes.
    bodyLimit: 8 * 1024 * 1024,
    bodyFields: SKILL_BODY_FIELDS,
    bodyJob: skillBodyJob,
    responses: { 201: SkillImportResult },
    run: (ctx, { caller, params, body }) => importSkills(ctx, caller, params.companyId, body),
  }),
  route({
    id: 'skills.fetch',
    method: 'POST',
    path: '/api/companies/:companyId/skills/fetch',
    summary: 'Download the texts of skills that are references',
    description:
      'A skill of a package may refer to a file in a public GitHub repository at a commit. An import downloads it; this repeats the download for the skills where it failed.',
    who: [board, ceo, manager],
    responses: { 200: FetchedSkills },
    run: (ctx, { caller, params }) => fetchSkills(ctx, caller, params.companyId),
  }),
  route({
    id: 'skills.get',
    method: 'GET',
    path: '/api/skills/:skillId',
    summary: 'Get a skill with its file inventory and the agents that use it',
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
    summary: 'Get a file of a skill, as text or in base64',
    who: [board, agent],
    query: v.object({
      path: v.optional(v.pipe(v.string(), v.description('A path of the file inventory.')), 'SKILL.md'),
    }),
    responses: { 200: SkillFile },
    run: (ctx, { caller, params, query }) => toSkillFile(getSkillFile(ctx, caller, params.skillId, query.path)),
  }),
  route({
    id: 'skills.delete',
    method: 'DELETE',
    path: '/api/skills/:skillId',
    summary: 'Delete a skill and remove it from its agents',
    who: [board, ceo, manager],
    responses: { 200: Skill },
    run: (ctx, { caller, params }) => ctx.write(() => toSkill(deleteSkill(ctx, caller, params.skillId))),
  }),
  route({
    id: 'agents.skills',
    method: 'GET',
    path: '/api/agents/:agentId/skills',
    summary: 'List the skills that an agent has in its runs',
    who: [board, agent],
    query: AGENT_QUERY,
    responses: { 200: AgentSkills },
    run: (ctx, { caller, params, query }) => skillsOf(ctx, getAgent(ctx, caller, params.agentId, query.companyId)),
  }),
  route({
    id: 'agents.syncSkills',
    method: 'POST',
    path: '/api/agents/:agentId/skills/sync',
    summary: "Write an agent's skills to the folder of its runs",
    description:
      'Allowed: the board, the managers above the agent, and the agent itself, which may not change the set. Every run does the same before it starts.',
    who: [board, agent],
    query: AGENT_QUERY,
    body: SkillSync,
    bodyOptional: true,
    responses: { 200: SyncedSkills },
    run: (ctx, { caller, params, query, body }) =>
      syncSkills(ctx, caller, { agentId: params.agentId, companyId: query.companyId }, body),
  }),
]
