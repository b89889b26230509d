import * as v from 'valibot'
import { findAgent, findCompany, idsOf, listAgents, listGoals, listProjects, namesOf, pick } from './find.ts'
import { given } from './issue-tools.ts'
import { arg, type Tool, tool } from './tool.ts'

interface OrgNode {
  name: string
  role: string
  status: string
  reports: OrgNode[]
}

/** The reporting tree, a line for each agent: shorter than nested objects, and as easy to read. */
const treeOf = (nodes: readonly OrgNode[], depth = 0): string[] =>
  nodes.flatMap(({ name, role, status, reports }) => [
    `${'  '.repeat(depth)}${name} (${role}, ${status})`,
    ...treeOf(reports, depth + 1),
  ])

export const companyTools: readonly Tool[] = [
  tool({
    name: 'whoami',
    description: 'Tell who you are: your name, role, company and run.',
    readOnly: true,
    input: {},
    async run(client) {
      const who = await client.request('GET /api/whoami')
      return Object.fromEntries(Object.entries(who).filter(([, value]) => value !== null && !isEmptyList(value)))
    },
  }),
  tool({
    name: 'inbox',
    description:
      'List what waits for you, in the order to do it: for an agent its issues, for a person approvals, questions, mentions and failures.',
    readOnly: true,
    input: { limit: arg.limit },
    async run(client, { limit }) {
      const { type } = await client.request('GET /api/whoami')
      if (type === 'user') {
        const items = await client.request('GET /api/inbox', { query: { limit } })
        return items.map(({ kind, title, issueIdentifier, at }) => ({ kind, title, issue: issueIdentifier, at }))
      }
      const issues = await client.request('GET /api/agents/me/inbox', { query: { limit } })
      return issues.map(({ identifier, title, status, priority, waitingFor, approvals }) => ({
        identifier,
        title,
        status,
        priority,
        ...(waitingFor.length > 0 && { waitingFor: waitingFor.map((blocker) => blocker.identifier) }),
        ...(approvals.length > 0 && { approvals }),
      }))
    },
  }),
  tool({
    name: 'list_agents',
    description: 'List the agents of the company: who does what, and who can be asked for what.',
    readOnly: true,
    input: { company: arg.company },
    async run(client, { company }) {
      const agents = await listAgents(client, await findCompany(client, company))
      return agents.map(({ name, role, title, status, capabilities }) => ({
        name,
        role,
        ...given({ title: title ?? undefined, capabilities: capabilities ?? undefined }),
        status,
      }))
    },
  }),
  tool({
    name: 'get_agent',
    description: 'Read an agent: its role, manager, state, budget and what it is able to do.',
    readOnly: true,
    input: { company: arg.company, agent: arg.agent },
    async run(client, { company, agent: ref }) {
      const companyId = await findCompany(client, company)
      const agent = await findAgent(client, companyId, ref)
      const nameOf = await namesOf(client, companyId)
      const {
        id,
        name,
        role,
        title,
        status,
        capabilities,
        adapterType,
        desiredSkills,
        pauseReason,
        errorReason,
        heldBecause,
      } = agent
      return {
        id,
        name,
        role,
        title,
        status,
        manager: nameOf(agent.reportsTo),
        capabilities,
        adapterType,
        skills: desiredSkills,
        budgetDollars: agent.budgetMonthlyCents / 100,
        spentDollars: agent.spentMonthlyCents / 100,
        ...given({
          pauseReason: pauseReason ?? undefined,
          errorReason: errorReason ?? undefined,
          heldBecause: heldBecause ?? undefined,
        }),
      }
    },
  }),
  tool({
    name: 'get_org',
    description: 'Show who reports to whom, as a tree.',
    readOnly: true,
    input: { company: arg.company },
    async run(client, { company }) {
      const companyId = await findCompany(client, company)
      return treeOf(
        (await client.request('GET /api/companies/:companyId/org', { params: { companyId } })) as OrgNode[],
      ).join('\n')
    },
  }),
  tool({
    name: 'list_projects',
    description: 'List the projects of the company.',
    readOnly: true,
    input: { company: arg.company },
    async run(client, { company }) {
      const projects = await listProjects(client, await findCompany(client, company))
      return projects.map(({ name, status, targetDate, archivedAt }) => ({
        name,
        status,
        targetDate,
        ...(archivedAt && { archivedAt }),
      }))
    },
  }),
  tool({
    name: 'get_project',
    description: 'Read a project: its description, goals and workspaces.',
    readOnly: true,
    input: { company: arg.company, project: arg.text('Its name or id.') },
    async run(client, { company, project: ref }) {
      const companyId = await findCompany(client, company)
      const project = pick(await listProjects(client, companyId), ref, 'project')
      const nameOf = await namesOf(client, companyId)
      return {
        id: project.id,
        name: project.name,
        status: project.status,
        description: project.description,
        lead: nameOf(project.leadAgentId),
        targetDate: project.targetDate,
        goals: project.goals.map(({ title, status }) => ({ title, status })),
        workspaces: project.workspaces.map(({ name, cwd, repoUrl, repoRef, isPrimary }) => ({
          name,
          cwd,
          repoUrl,
          repoRef,
          isPrimary,
        })),
      }
    },
  }),
  tool({
    name: 'list_goals',
    description: 'List the goals of the company.',
    readOnly: true,
    input: { company: arg.company },
    async run(client, { company }) {
      const goals = await listGoals(client, await findCompany(client, company))
      const titles = new Map(goals.map(({ id, title }) => [id, title]))
      return goals.map(({ title, level, status, parentId }) => ({
        title,
        level,
        status,
        ...(parentId && { parent: titles.get(parentId) }),
      }))
    },
  }),
  tool({
    name: 'get_goal',
    description: 'Read a goal.',
    readOnly: true,
    input: { company: arg.company, goal: arg.text('Its title or id.') },
    async run(client, { company, goal: ref }) {
      const companyId = await findCompany(client, company)
      const { id, title, level, status, description, ownerAgentId } = pick(
        await listGoals(client, companyId),
        ref,
        'goal',
      )
      return { id, title, level, status, description, owner: (await namesOf(client, companyId))(ownerAgentId) }
    },
  }),
  tool({
    name: 'hire_agent',
    description:
      'Hire an agent. If the company requires it, the board must approve the hire first; you are woken when it has decided.',
    input: {
      company: arg.company,
      name: arg.text('The name of the agent. @Name in a comment wakes it.'),
      role: arg.optional('A short lower-case word, such as engineer or researcher.'),
      title: arg.optional('What it is called in the organization.'),
      manager: arg.optional('Whom it reports to: a name or id. Default: you.'),
      capabilities: arg.optional('What it can be asked for.'),
      skills: v.optional(
        v.pipe(v.array(arg.text('A skill.')), v.description('Skills of the company: their keys or slugs.')),
      ),
      adapterType: arg.optional(
        'The program that runs it, such as runtimeA_local (Claude Code) or runtimeB_local (Codex).',
      ),
      adapterConfig: v.optional(
        v.pipe(v.record(v.string(), v.unknown()), v.description('The settings of that program.')),
      ),
      budgetMonthlyDollars: v.optional(v.pipe(v.number(), v.minValue(0))),
      issue: v.optional(arg.issue),
    },
    async run(client, { company, name, skills, manager, budgetMonthlyDollars, issue, ...fields }) {
      const companyId = await findCompany(client, company)
      const { reportsTo } = await idsOf(client, companyId, { manager })
      const body = {
        name,
        ...given({ ...fields, desiredSkills: skills, reportsTo, sourceIssueId: issue }),
        ...(budgetMonthlyDollars !== undefined && { budgetMonthlyCents: Math.round(budgetMonthlyDollars * 100) }),
      }
      const { agent, approval } = await client.request('POST /api/companies/:companyId/agent-hires', {
        params: { companyId },
        // The adapter types that the server knows are checked by the server.
        body: body as never,
      })
      return {
        agent: { id: agent.id, name: agent.name, status: agent.status },
        approval: approval && { id: approval.id, status: approval.status },
      }
    },
  }),
  tool({
    name: 'report_cost',
    description: 'Report what work cost outside of your own program: a model or service that you called yourself.',
    input: {
      company: arg.company,
      agent: arg.optional('Default: you.'),
      issue: v.optional(arg.issue),
      provider: arg.text('Such as openai.'),
      model: arg.text('Such as gpt-5.'),
      inputTokens: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
      outputTokens: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
      costDollars: v.optional(
        v.pipe(v.number(), v.minValue(0), v.description('Without it the server computes it from its list of prices.')),
      ),
    },
    async run(client, { company, agent = 'me', issue, costDollars, provider, model, ...tokens }) {
      const companyId = await findCompany(client, company)
      const { id: agentId } = await findAgent(client, companyId, agent)
      const event = await client.request('POST /api/companies/:companyId/cost-events', {
        params: { companyId },
        body: {
          agentId,
          provider,
          model,
          ...given({ ...tokens, issueId: issue }),
          ...(costDollars !== undefined && { costCents: costDollars * 100 }),
        },
      })
      return { id: event.id, costDollars: event.costCents === null ? null : event.costCents / 100 }
    },
  }),
]

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0
