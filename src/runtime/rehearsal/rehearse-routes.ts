import * as v from 'valibot'
import { board } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import * as field from '../../http/fields.ts'
import { assertMayCommand } from '../../organization/agent/command.ts'
import { getAgent } from '../../organization/agent/get.ts'
import { AGENT_QUERY } from '../../organization/agent/show.ts'
import { manager } from '../../organization/agent/who.ts'
import { getReferredIssue } from '../../work/issue/references.ts'
import { Rehearsal, rehearse } from './rehearse.ts'

export const rehearseRoutes = [
  route({
    id: 'agents.rehearse',
    method: 'POST',
    path: '/api/agents/:agentId/rehearse',
    summary: 'Say exactly what the next run of an agent would be, without running it',
    description:
      'The program with its arguments, the directory, the prompt, the names of the environment variables, the session and the limits, and everything that stands in the way. Of the run itself only the id, the token and the id of a fresh session are still open. Nothing is spent and nothing changes.',
    who: [board, manager],
    allowsArchived: true,
    query: AGENT_QUERY,
    body: v.strictObject({
      issueId: v.optional(v.pipe(v.nullable(field.reference), v.description('As if it were woken on this issue now.'))),
    }),
    bodyOptional: true,
    responses: { 200: Rehearsal },
    run: (ctx, { caller, params, query, body }) => {
      const agent = getAgent(ctx, caller, params.agentId, query.companyId)
      assertMayCommand(ctx, caller, agent.id, 'rehearse its runs')
      const issue = body.issueId ? getReferredIssue(ctx, agent.company_id, 'issueId', body.issueId) : undefined
      return rehearse(ctx, caller, agent, issue?.id ?? null)
    },
  }),
]
