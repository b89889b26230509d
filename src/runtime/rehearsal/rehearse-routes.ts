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

/** The endpoint that rehearses a run. */
export const rehearseRoutes = [
  route({
    id: 'agents.rehearse',
    method: 'POST',
    path: '/api/agents/:agentId/rehearse',
    summary: 'Show the next run of an agent without starting it',
    description:
      'Returns the program with its arguments, the directory, the prompt, the names of the environment variables, the session, the limits, and all problems that would prevent the run. Only the id of the run, its token and the id of a new session differ in the real run. The rehearsal spends nothing and changes nothing.',
    who: [board, manager],
    allowsArchived: true,
    query: AGENT_QUERY,
    body: v.strictObject({
      issueId: v.optional(v.pipe(v.nullable(field.reference), v.description('Rehearses a wake for this issue.'))),
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
