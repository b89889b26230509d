import * as v from 'valibot'
import type { Client } from '../client/client.ts'
import type { ItemOf } from '../client/types.ts'
import { findCompany, idsOf, namesOf } from './find.ts'
import { arg, type Tool, tool } from './tool.ts'

type Issue = ItemOf<'GET /api/companies/:companyId/issues'>

const STATUSES = ['backlog', 'todo', 'in_progress', 'in_review', 'blocked', 'done', 'cancelled'] as const
const PRIORITIES = ['critical', 'high', 'medium', 'low'] as const

/** Returns the fields of an issue in a list. */
const brief = (issue: Issue, nameOf: (id: string | null) => string | null) => ({
  identifier: issue.identifier,
  title: issue.title,
  status: issue.status,
  priority: issue.priority,
  assignee: nameOf(issue.assigneeAgentId) ?? issue.assigneeUserId,
  ...(issue.blockedBy.length > 0 && {
    blockedBy: issue.blockedBy.map(({ identifier, status }) => `${identifier} (${status})`),
  }),
  updatedAt: issue.updatedAt,
})

/** Returns the fields of a changed issue. */
const changed = ({ identifier, title, status, priority, updatedAt }: Issue) => ({
  identifier,
  title,
  status,
  priority,
  updatedAt,
})

const NEW_ISSUE = {
  title: arg.text('One line.'),
  description: arg.optional('Markdown: what is to be done, and how to tell that it is.'),
  status: v.optional(v.picklist(['backlog', 'todo'])),
  priority: v.optional(v.picklist(PRIORITIES)),
  assignee: arg.optional('The agent to do it: its name or id, or `me`. It is woken.'),
  project: arg.optional('The name or id of its project.'),
  goal: arg.optional('The title or id of its goal.'),
  blockedBy: v.optional(v.pipe(v.array(arg.issue), v.description('The issues that must be done first.'))),
}

const companyOf = async (client: Client, issueId: string) =>
  (await client.request('GET /api/issues/:issueId', { params: { issueId } })).companyId

export const issueTools: readonly Tool[] = [
  tool({
    name: 'list_issues',
    description: 'List issues by priority. Without a filter: all that are not done or cancelled.',
    readOnly: true,
    input: {
      company: arg.company,
      status: v.optional(v.array(v.picklist(STATUSES)), ['backlog', 'todo', 'in_progress', 'in_review', 'blocked']),
      assignee: arg.optional('An agent: its name or id, or `me`.'),
      project: arg.optional('A project: its name or id.'),
      goal: arg.optional('A goal: its title or id.'),
      parent: v.optional(arg.issue),
      limit: arg.limit,
    },
    async run(client, { company, status, parent, limit, ...names }) {
      const companyId = await findCompany(client, company)
      const { assigneeAgentId, projectId, goalId } = await idsOf(client, companyId, names)
      const { items, next } = await client.page('GET /api/companies/:companyId/issues', {
        params: { companyId },
        query: {
          limit,
          status: status.join(),
          ...(assigneeAgentId && { assigneeAgentId }),
          ...(projectId && { projectId }),
          ...(goalId && { goalId }),
          ...(parent && { parentId: parent }),
        },
      })
      const nameOf = await namesOf(client, companyId)
      return { issues: items.map((issue) => brief(issue, nameOf)), more: next !== undefined }
    },
  }),
  tool({
    name: 'search',
    description: 'Find issues, comments, agents, projects and goals that contain all of these words.',
    readOnly: true,
    input: { company: arg.company, query: arg.text('Words.'), limit: arg.limit },
    async run(client, { company, query, limit }) {
      const companyId = await findCompany(client, company)
      const found = await client.request('GET /api/companies/:companyId/search', {
        params: { companyId },
        query: { q: query, limit: Math.min(limit, 50) },
      })
      return {
        issues: found.issues.map(({ identifier, title, status }) => ({ identifier, title, status })),
        comments: found.comments.map(({ identifier, snippet, createdAt }) => ({
          issue: identifier,
          snippet,
          createdAt,
        })),
        agents: found.agents.map(({ name, role, title }) => ({ name, role, title })),
        projects: found.projects.map(({ name, status }) => ({ name, status })),
        goals: found.goals.map(({ title, status }) => ({ title, status })),
      }
    },
  }),
  tool({
    name: 'get_issue',
    description: 'Read an issue: its text, people, project, goal, parents and blockers.',
    readOnly: true,
    input: { issue: arg.issue },
    async run(client, { issue: issueId }) {
      const issue = await client.request('GET /api/issues/:issueId', { params: { issueId } })
      const nameOf = await namesOf(client, issue.companyId)
      return {
        ...brief(issue, nameOf),
        description: issue.description,
        project: issue.project?.name ?? null,
        goal: issue.goal?.title ?? null,
        parents: issue.ancestors.map(({ identifier, title, status }) => ({ identifier, title, status })),
        blocks: issue.blocks.map(({ identifier }) => identifier),
        labels: issue.labels.map(({ name }) => name),
        createdAt: issue.createdAt,
      }
    },
  }),
  tool({
    name: 'get_context',
    description:
      'Read what you need to begin work on an issue, in one call: the issue, its parents, project and goal, the comment that woke you, its documents, attachments and open approvals, and the latest comments.',
    readOnly: true,
    input: { issue: arg.issue },
    async run(client, { issue: issueId }) {
      const context = await client.request('GET /api/issues/:issueId/heartbeat-context', { params: { issueId } })
      const nameOf = await namesOf(client, context.issue.companyId)
      const comments = await client.request('GET /api/issues/:issueId/comments', {
        params: { issueId },
        query: { order: 'desc', limit: 10 },
      })
      const displayed = (comment: (typeof comments)[number]) => ({
        id: comment.id,
        by: nameOf(comment.authorAgentId) ?? comment.authorUserId ?? 'system',
        at: comment.createdAt,
        body: comment.body,
      })
      return {
        issue: { ...brief(context.issue, nameOf), description: context.issue.description },
        project: context.project && { name: context.project.name, description: context.project.description },
        goal: context.goal && { title: context.goal.title, description: context.goal.description },
        parents: context.ancestors.map(({ identifier, title, status, description }) => ({
          identifier,
          title,
          status,
          description,
        })),
        wokenBy: context.wakeComment && displayed(context.wakeComment),
        comments: { total: context.commentCursor.totalComments, latest: comments.toReversed().map(displayed) },
        documents: context.documents.map(({ key, title, updatedAt }) => ({ key, title, updatedAt })),
        attachments: context.attachments.map(({ fileName, contentType, byteSize, url }) => ({
          fileName,
          contentType,
          byteSize,
          url,
        })),
        approvals: context.approvals,
      }
    },
  }),
  tool({
    name: 'why_issue',
    description: 'Explain the state of an issue: what happened, what each step caused and cost, and what it waits for.',
    readOnly: true,
    input: { issue: arg.issue },
    async run(client, { issue: issueId }) {
      const why = await client.request('GET /api/issues/:issueId/why', { params: { issueId } })
      return {
        status: why.issue.status,
        runs: why.runCount,
        costDollars: why.costCents / 100,
        notes: why.notes,
        steps: why.steps.slice(-40).map(({ at, text, status }) => ({ at, text, ...(status && { status }) })),
      }
    },
  }),
  tool({
    name: 'create_issue',
    description: 'Create an issue. An assignee is woken, unless a blocker is open.',
    input: { company: arg.company, ...NEW_ISSUE },
    async run(client, { company, blockedBy, title, description, status, priority, ...names }) {
      const companyId = await findCompany(client, company)
      return changed(
        await client.request('POST /api/companies/:companyId/issues', {
          params: { companyId },
          body: {
            title,
            ...given({ description, status, priority, blockedByIssueIds: blockedBy }),
            ...(await idsOf(client, companyId, names)),
          },
        }),
      )
    },
  }),
  tool({
    name: 'create_child',
    description: 'Create an issue below another one: a part of its work.',
    input: { parent: arg.issue, ...NEW_ISSUE },
    async run(client, { parent, blockedBy, title, description, status, priority, ...names }) {
      return changed(
        await client.request('POST /api/issues/:issueId/children', {
          params: { issueId: parent },
          body: {
            title,
            ...given({ description, status, priority, blockedByIssueIds: blockedBy }),
            ...(await idsOf(client, await companyOf(client, parent), names)),
          },
        }),
      )
    },
  }),
  tool({
    name: 'update_issue',
    description: 'Change an issue, and comment on it in the same step. To begin work use checkout_issue instead.',
    input: {
      issue: arg.issue,
      status: v.optional(v.picklist(STATUSES)),
      title: arg.optional('One line.'),
      description: arg.optional('Markdown.'),
      priority: v.optional(v.picklist(PRIORITIES)),
      assignee: arg.optional('An agent: its name or id, `me`, or `none`.'),
      project: arg.optional('A project: its name or id, or `none`.'),
      goal: arg.optional('A goal: its title or id, or `none`.'),
      blockedBy: v.optional(
        v.pipe(v.array(arg.issue), v.description('All the issues that it waits for; replaces the list.')),
      ),
      comment: arg.optional('Markdown: what you did, what is left. @Name wakes that agent.'),
    },
    async run(client, { issue: issueId, blockedBy, status, title, description, priority, comment, ...names }) {
      return changed(
        await client.request('PATCH /api/issues/:issueId', {
          params: { issueId },
          body: {
            ...given({ status, title, description, priority, comment, blockedByIssueIds: blockedBy }),
            ...(await idsOf(client, await companyOf(client, issueId), names)),
          },
        }),
      )
    },
  }),
  tool({
    name: 'checkout_issue',
    description:
      'Take an issue and begin work on it. Only one agent gets it: if another one has it, do something else, do not retry.',
    input: {
      issue: arg.issue,
      agent: arg.optional('Only for people: the agent that takes it, by name or id.'),
    },
    async run(client, { issue: issueId, agent }) {
      const ids =
        agent === undefined ? undefined : await idsOf(client, await companyOf(client, issueId), { assignee: agent })
      return changed(
        await client.request('POST /api/issues/:issueId/checkout', {
          params: { issueId },
          body: ids?.assigneeAgentId ? { agentId: ids.assigneeAgentId } : {},
        }),
      )
    },
  }),
  tool({
    name: 'release_issue',
    description:
      'Give an issue back that you cannot finish, so that anybody can take it. Comment first on what is left.',
    input: { issue: arg.issue },
    run: async (client, { issue: issueId }) =>
      changed(await client.request('POST /api/issues/:issueId/release', { params: { issueId } })),
  }),
  tool({
    name: 'list_comments',
    description: 'Read the newest comments of an issue, oldest of them first.',
    readOnly: true,
    input: {
      issue: arg.issue,
      after: arg.optional('The id of the last comment that you read: only newer ones are listed.'),
      limit: arg.limit,
    },
    async run(client, { issue: issueId, after, limit }) {
      const page = await client.page('GET /api/issues/:issueId/comments', {
        params: { issueId },
        query: after === undefined ? { order: 'desc', limit } : { order: 'asc', after, limit },
      })
      const nameOf = await namesOf(client, await companyOf(client, issueId))
      const comments = page.items.map(({ id, authorAgentId, authorUserId, createdAt, body }) => ({
        id,
        by: nameOf(authorAgentId) ?? authorUserId ?? 'system',
        at: createdAt,
        body,
      }))
      return { comments: after === undefined ? comments.toReversed() : comments, more: page.next !== undefined }
    },
  }),
  tool({
    name: 'add_comment',
    description: 'Comment on an issue. @Name wakes the agent of that name; people and @board find it in their inbox.',
    input: { issue: arg.issue, body: arg.text('Markdown.') },
    async run(client, { issue: issueId, body }) {
      const { id, createdAt, ...rest } = await client.request('POST /api/issues/:issueId/comments', {
        params: { issueId },
        body: { body },
      })
      const { unknownMentions = [] } = rest as { unknownMentions?: unknown[] }
      return { id, createdAt, ...(unknownMentions.length > 0 && { unknownMentions }) }
    },
  }),
]

/** Removes the fields that are undefined. */
export const given = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Key in keyof T]?: Exclude<T[Key], undefined>
  }
