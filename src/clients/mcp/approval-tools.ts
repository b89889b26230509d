import * as v from 'valibot'
import type { ItemOf } from '../client/types.ts'
import { findCompany, namesOf } from './find.ts'
import { given } from './issue-tools.ts'
import { arg, type Tool, tool } from './tool.ts'

const approval = arg.text('The id of the approval.')

const brief = (
  {
    id,
    type,
    status,
    payload,
    requestedByAgentId,
    decisionNote,
    createdAt,
  }: ItemOf<'GET /api/companies/:companyId/approvals'>,
  nameOf: (id: string | null) => string | null,
) => ({
  id,
  type,
  status,
  title: (payload as { title?: unknown; name?: unknown }).title ?? (payload as { name?: unknown }).name ?? null,
  requestedBy: nameOf(requestedByAgentId),
  ...(decisionNote && { decisionNote }),
  createdAt,
})

export const approvalTools: readonly Tool[] = [
  tool({
    name: 'list_approvals',
    description: 'List what the board is asked to decide.',
    readOnly: true,
    input: {
      company: arg.company,
      status: v.optional(v.picklist(['pending', 'revision_requested', 'approved', 'rejected', 'cancelled'])),
      limit: arg.limit,
    },
    async run(client, { company, status, limit }) {
      const companyId = await findCompany(client, company)
      const approvals = await client.request('GET /api/companies/:companyId/approvals', {
        params: { companyId },
        query: { limit, ...given({ status }) },
      })
      const nameOf = await namesOf(client, companyId)
      return approvals.map((one) => brief(one, nameOf))
    },
  }),
  tool({
    name: 'get_approval',
    description: 'Read an approval: what is asked, what was decided, and the comments on it.',
    readOnly: true,
    input: { approval },
    async run(client, { approval: approvalId }) {
      const params = { approvalId }
      const found = await client.request('GET /api/approvals/:approvalId', { params })
      const comments = await client.request('GET /api/approvals/:approvalId/comments', { params })
      const nameOf = await namesOf(client, found.companyId)
      return {
        ...brief(found, nameOf),
        payload: found.payload,
        chosenOption: found.chosenOption,
        decidedAt: found.decidedAt,
        comments: comments.map(({ authorAgentId, authorUserId, body, createdAt }) => ({
          by: nameOf(authorAgentId) ?? authorUserId,
          at: createdAt,
          body,
        })),
      }
    },
  }),
  tool({
    name: 'request_approval',
    description: 'Ask the board for a decision, with options if there are some. You are woken when it has decided.',
    input: {
      company: arg.company,
      title: arg.text('What is to be decided, in one line.'),
      question: arg.optional('Markdown: what the board needs to know.'),
      options: v.optional(v.pipe(v.array(arg.text('An option.')), v.minLength(2))),
      recommended: arg.optional('The option that you recommend.'),
      issues: v.optional(v.pipe(v.array(arg.issue), v.description('The issues that it is about.'))),
    },
    async run(client, { company, issues, title, ...rest }) {
      const companyId = await findCompany(client, company)
      const made = await client.request('POST /api/companies/:companyId/approvals', {
        params: { companyId },
        body: { type: 'request_board_approval', payload: { title, ...given(rest) }, ...given({ issueIds: issues }) },
      })
      return { id: made.id, status: made.status }
    },
  }),
  tool({
    name: 'comment_approval',
    description: 'Comment on an approval.',
    input: { approval, body: arg.text('Markdown.') },
    async run(client, { approval: approvalId, body }) {
      const { id } = await client.request('POST /api/approvals/:approvalId/comments', {
        params: { approvalId },
        body: { body },
      })
      return { id }
    },
  }),
  tool({
    name: 'link_approval',
    description: 'Link an approval to an issue that it is about.',
    input: { approval, issue: arg.issue },
    async run(client, { approval: approvalId, issue: issueId }) {
      await client.request('POST /api/issues/:issueId/approvals', { params: { issueId }, body: { approvalId } })
      return { linked: true }
    },
  }),
  tool({
    name: 'ask_board',
    description:
      'Ask people something on an issue: a question, yes or no, a choice, or sub-tasks that you suggest. Then set the issue to blocked and end: the answer wakes you.',
    input: {
      issue: arg.issue,
      kind: v.picklist(['question', 'confirm', 'choose', 'suggest_tasks']),
      title: arg.text('What is asked, in one line.'),
      question: arg.optional('Markdown: what is needed to answer.'),
      options: v.optional(v.pipe(v.array(arg.text('An option.')), v.minLength(2), v.description('For `choose`.'))),
      multiple: v.optional(v.pipe(v.boolean(), v.description('For `choose`: whether several may be chosen.'))),
      recommended: arg.optional('For `choose`: the option that you recommend.'),
      tasks: v.optional(
        v.pipe(
          v.array(v.strictObject({ title: arg.text('One line.'), description: arg.optional('Markdown.') })),
          v.description('For `suggest_tasks`.'),
        ),
      ),
    },
    async run(client, { issue: issueId, kind, title, ...rest }) {
      const { id, status } = await client.request('POST /api/issues/:issueId/interactions', {
        params: { issueId },
        // Tasks leave out what was not given.
        body: { kind, title, ...(given(rest) as object) },
      })
      return { id, status }
    },
  }),
]
