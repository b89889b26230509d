import * as v from 'valibot'
import { Activity, pageOfActivity } from '../../access/activity/routes.ts'
import { agent, board } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import { decodeCursor, LIST_QUERY, listOf, Page } from '../../http/list.ts'
import { getRun, showRun } from '../../organization/run/get.ts'
import { pageOfRuns, RUN_QUERY } from '../../organization/run/list.ts'
import { Run } from '../../organization/run/run.ts'
import { CreatedComment, toCreatedComment } from '../comment/comment.ts'
import { checkoutIssue } from './checkout.ts'
import { closeIssue } from './close.ts'
import { unknownMentionsIn } from './comment.ts'
import { createIssue } from './create.ts'
import { getIssueDetail, IssueDetail } from './detail.ts'
import { findIssues, needsReader } from './find.ts'
import { getIssue } from './get.ts'
import { CheckoutBody, CloseBody, ForcedRelease, Issue, IssueChange, NewChild, NewIssue } from './issue.ts'
import { ISSUE_STATUSES } from './lifecycle.ts'
import { countIssues, cursorOf, filterOf, listIssues } from './list.ts'
import { holderOf, releaseIssue } from './release.ts'
import { showIssue, showIssues } from './show.ts'
import { markRead, markUnread } from './unread.ts'
import { updateIssue } from './update.ts'

const ref = v.optional(v.pipe(v.string(), v.maxLength(200)))

export const issueRoutes = [
  route({
    id: 'issues.list',
    method: 'GET',
    path: '/api/companies/:companyId/issues',
    summary: 'List issues by priority, then newest first',
    who: [board, agent],
    isCached: true,
    query: v.object({
      ...LIST_QUERY,
      status: v.optional(listOf(ISSUE_STATUSES)),
      assigneeAgentId: v.optional(
        v.pipe(
          v.string(),
          v.description('An agent, `me` for the calling agent, or `none` for issues without an assignee.'),
        ),
      ),
      assigneeUserId: ref,
      projectId: ref,
      goalId: ref,
      parentId: ref,
      labelId: ref,
      unread: v.optional(
        v.pipe(
          v.picklist(['true', 'false']),
          v.description(
            '`true` lists only the issues that are unread for the calling person, `false` only the others.',
          ),
        ),
      ),
      q: v.optional(
        v.pipe(
          v.string(),
          v.maxLength(500, 'must be at most 500 characters'),
          v.description(
            'Search words. All of them must occur in the title, the identifier, the description or a comment.',
          ),
        ),
      ),
    }),
    responses: { 200: v.array(Issue) },
    run: async (ctx, { caller, params, query }) => {
      const { limit } = query
      const filter = filterOf(ctx, caller, params.companyId, query)
      const after = decodeCursor(query.after, ['number', 'string'])
      const q = query.q?.trim() || undefined
      const count = query.count === 'true'
      const { rows, total } = needsReader({ filter, q })
        ? await findIssues(ctx, { filter, q, after, limit, count })
        : { rows: listIssues(ctx.db, filter, { after, limit }), total: count ? countIssues(ctx.db, filter) : undefined }
      return Page.of(rows, { limit, cursorOf, show: showIssues(ctx, caller, rows), total })
    },
  }),
  route({
    id: 'issues.create',
    method: 'POST',
    path: '/api/companies/:companyId/issues',
    summary: 'Create an issue, and wake its assignee',
    who: [board, agent],
    role: 'member',
    body: NewIssue,
    responses: { 201: Issue },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => showIssue(ctx, caller, createIssue(ctx, caller, params.companyId, body))),
  }),
  route({
    id: 'issues.createChild',
    method: 'POST',
    path: '/api/issues/:issueId/children',
    summary: 'Create an issue below another',
    who: [board, agent],
    role: 'member',
    body: NewChild,
    responses: { 201: Issue },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => {
        const parent = getIssue(ctx, caller, params.issueId)
        return showIssue(ctx, caller, createIssue(ctx, caller, parent.company_id, { ...body, parentId: parent.id }))
      }),
  }),
  route({
    id: 'issues.get',
    method: 'GET',
    path: '/api/issues/:issueId',
    summary: 'Get an issue with its project, goal and ancestors',
    who: [board, agent],
    responses: { 200: IssueDetail },
    run: (ctx, { caller, params }) => getIssueDetail(ctx, caller, params.issueId),
  }),
  route({
    id: 'issues.update',
    method: 'PATCH',
    path: '/api/issues/:issueId',
    summary: 'Change an issue, and comment on it in the same request',
    who: [board, agent],
    role: 'member',
    body: IssueChange,
    responses: { 200: v.strictObject({ ...Issue.entries, comment: v.optional(CreatedComment) }) },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => {
        const { issue, comment } = updateIssue(ctx, caller, params.issueId, body)
        return {
          ...showIssue(ctx, caller, issue),
          ...(comment && { comment: toCreatedComment(comment, issue.id, unknownMentionsIn(ctx, comment)) }),
        }
      }),
  }),
  route({
    id: 'issues.checkout',
    method: 'POST',
    path: '/api/issues/:issueId/checkout',
    summary: 'Claim an issue and start work on it, atomically',
    description:
      'If several agents request it at the same time, exactly one succeeds. A 409 names the owner; do not retry it.',
    who: [board, agent],
    role: 'member',
    body: CheckoutBody,
    bodyOptional: true,
    responses: { 200: Issue },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => showIssue(ctx, caller, checkoutIssue(ctx, caller, params.issueId, body))),
  }),
  route({
    id: 'issues.release',
    method: 'POST',
    path: '/api/issues/:issueId/release',
    summary: 'Release an issue: remove its assignee',
    who: [board, agent],
    role: 'member',
    body: v.strictObject({}),
    bodyOptional: true,
    responses: { 200: Issue },
    run: (ctx, { caller, params }) =>
      ctx.write(() => showIssue(ctx, caller, releaseIssue(ctx, caller, params.issueId))),
  }),
  route({
    id: 'issues.close',
    method: 'POST',
    path: '/api/issues/:issueId/close',
    summary: 'Set an issue to done as a person, from any open status',
    description:
      'Performs the transitions that lead to done, each with its activity. Keeps the assignee, or assigns the person if there is none. Stops the live runs on the issue.',
    who: [board],
    role: 'member',
    body: CloseBody,
    bodyOptional: true,
    responses: { 200: Issue },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => showIssue(ctx, caller, closeIssue(ctx, caller, params.issueId, body))),
  }),
  route({
    id: 'issues.read',
    method: 'POST',
    path: '/api/issues/:issueId/read',
    summary: 'Mark an issue as read for the calling person',
    description: 'A later action of somebody else on the issue makes it unread again.',
    who: [board],
    role: 'viewer',
    body: v.strictObject({}),
    bodyOptional: true,
    responses: { 200: Issue },
    run: (ctx, { caller, params }) => ctx.write(() => showIssue(ctx, caller, markRead(ctx, caller, params.issueId))),
  }),
  route({
    id: 'issues.unread',
    method: 'DELETE',
    path: '/api/issues/:issueId/read',
    summary: 'Mark an issue as unread for the calling person',
    who: [board],
    role: 'viewer',
    responses: { 200: Issue },
    run: (ctx, { caller, params }) => ctx.write(() => showIssue(ctx, caller, markUnread(ctx, caller, params.issueId))),
  }),
  route({
    id: 'issues.forceRelease',
    method: 'POST',
    path: '/api/issues/:issueId/admin/force-release',
    summary: 'Release an issue of another assignee by force',
    who: [board],
    body: v.strictObject({}),
    bodyOptional: true,
    responses: { 200: ForcedRelease },
    run: (ctx, { caller, params }) =>
      ctx.write(() => {
        const before = getIssue(ctx, caller, params.issueId)
        const previous = holderOf(ctx, before)
        return { issue: showIssue(ctx, caller, releaseIssue(ctx, caller, params.issueId, { forced: true })), previous }
      }),
  }),
  route({
    id: 'issues.activity',
    method: 'GET',
    path: '/api/issues/:issueId/activity',
    summary: 'List the activity of an issue, newest first',
    who: [board, agent],
    query: v.object(LIST_QUERY),
    responses: { 200: v.array(Activity) },
    run: (ctx, { caller, params, query: { limit, after, count } }) => {
      const issue = getIssue(ctx, caller, params.issueId)
      const filter = { companyId: issue.company_id, entityId: issue.id }
      return pageOfActivity(ctx, filter, { limit, after, count })
    },
  }),
  route({
    id: 'issues.runs',
    method: 'GET',
    path: '/api/issues/:issueId/runs',
    summary: 'List the runs that worked on an issue, newest first',
    who: [board, agent],
    query: v.object({ ...LIST_QUERY, ...RUN_QUERY }),
    responses: { 200: v.array(Run) },
    run: (ctx, { caller, params, query }) => {
      const issue = getIssue(ctx, caller, params.issueId)
      return pageOfRuns(ctx, issue.company_id, { ...query, issueId: issue.id }, false)
    },
  }),
  route({
    id: 'issues.liveRuns',
    method: 'GET',
    path: '/api/issues/:issueId/live-runs',
    summary: 'List the live runs on an issue, newest first',
    who: [board, agent],
    query: v.object({ ...LIST_QUERY, ...RUN_QUERY }),
    responses: { 200: v.array(Run) },
    run: (ctx, { caller, params, query }) => {
      const issue = getIssue(ctx, caller, params.issueId)
      return pageOfRuns(ctx, issue.company_id, { ...query, issueId: issue.id }, true)
    },
  }),
  route({
    id: 'issues.activeRun',
    method: 'GET',
    path: '/api/issues/:issueId/active-run',
    summary: "Get the assignee's live run on an issue, or null",
    who: [board, agent],
    responses: { 200: v.nullable(Run) },
    run: (ctx, { caller, params }) => {
      const { runId } = holderOf(ctx, getIssue(ctx, caller, params.issueId))
      return runId === null ? null : showRun(ctx, getRun(ctx, caller, runId))
    },
  }),
]
