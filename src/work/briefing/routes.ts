import * as v from 'valibot'
import { agent, board } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import { LIST_QUERY } from '../../http/list.ts'
import { getIssue } from '../issue/get.ts'
import { findOpenBlockers } from '../issue/relations.ts'
import { HeartbeatContext, heartbeatContextOf } from './heartbeat-context.ts'
import { findOpenApprovals, InboxItem, listInbox, toInboxItem } from './inbox.ts'

/** The inbox of the calling agent, as an endpoint. The contract gives it two paths. */
const inbox = <const Id extends string, const Path extends string>(id: Id, path: Path) =>
  route({
    id,
    method: 'GET',
    path,
    summary: 'List the issues to work on, in the recommended order',
    description:
      'Issues in progress come first, then todo, in review, and blocked issues whose blockers are all finished; within each status the most urgent first. Issues that wait for an open blocker come last, with `waitingFor`.',
    who: [agent],
    query: v.object({ limit: LIST_QUERY.limit }),
    responses: { 200: v.array(InboxItem) },
    run: (ctx, { caller, query }) => {
      const agentId = caller.type === 'agent' ? caller.agentId : ''
      const rows = listInbox(ctx.db, { agentId, limit: query.limit })
      const approvalsOf = findOpenApprovals(ctx.db, rows)
      const blockersOf = findOpenBlockers(ctx.db, rows)
      return rows.map((row) => toInboxItem(row, approvalsOf(row.id), blockersOf(row.id)))
    },
  })

export const briefingRoutes = [
  inbox('agents.inbox', '/api/agents/me/inbox'),
  inbox('agents.inboxLite', '/api/agents/me/inbox-lite'),
  route({
    id: 'issues.heartbeatContext',
    method: 'GET',
    path: '/api/issues/:issueId/heartbeat-context',
    summary: 'Get everything that an agent needs to start work on an issue, in one response',
    who: [board, agent],
    query: v.object({
      wakeCommentId: v.optional(
        v.pipe(
          v.string(),
          v.description('The comment that woke the agent. Default: the comment that woke the current run.'),
        ),
      ),
    }),
    responses: { 200: HeartbeatContext },
    run: (ctx, { caller, params, query }) =>
      heartbeatContextOf(ctx, caller, getIssue(ctx, caller, params.issueId), query.wakeCommentId),
  }),
]
