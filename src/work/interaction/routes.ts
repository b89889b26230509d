import type { GenericSchema, InferOutput } from 'valibot'
import * as v from 'valibot'
import { agent, board } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import { LIST_QUERY, listOf, readPage } from '../../http/list.ts'
import { getIssue } from '../issue/get.ts'
import { answerInteraction, cancelInteraction } from './answer.ts'
import { askPeople, getInteraction } from './ask.ts'
import { AcceptBody, RejectBody, RespondBody, toAcceptance, toRejection, toResponse } from './compatible-answers.ts'
import { AnswerBody, INTERACTION_STATUSES, Interaction, NewInteraction, toInteraction } from './interaction.ts'
import { selectInteractions } from './queries.ts'

const query = v.object({ ...LIST_QUERY, status: v.optional(listOf(INTERACTION_STATUSES)) })

/** An answer in the form of clients of similar APIs. */
const answerRoute = <const Name extends string, B extends GenericSchema>(
  name: Name,
  summary: string,
  body: B,
  toAnswer: (asked: Interaction, body: InferOutput<B>) => AnswerBody,
) =>
  route({
    id: `interactions.${name}`,
    method: 'POST',
    path: `/api/issues/:issueId/interactions/:interactionId/${name}`,
    summary,
    description: 'An alternative to `answer`, for clients of similar APIs.',
    who: [board],
    role: 'member',
    body,
    bodyOptional: name !== 'respond',
    responses: { 200: Interaction },
    run: (ctx, { caller, params: { issueId, interactionId }, body: given }) =>
      ctx.write(() => {
        const asked = toInteraction(getInteraction(ctx, caller, issueId, interactionId))
        return toInteraction(
          answerInteraction(ctx, caller, issueId, interactionId, toAnswer(asked, given as InferOutput<B>)),
        )
      }),
  })

export const interactionRoutes = [
  route({
    id: 'interactions.listOfCompany',
    method: 'GET',
    path: '/api/companies/:companyId/interactions',
    summary: 'List the interactions of a company, newest first',
    who: [board, agent],
    query,
    responses: { 200: v.array(Interaction) },
    run: (ctx, { params, query }) => {
      const rows = selectInteractions({ companyId: params.companyId, statuses: query.status })
      return readPage(ctx.db, rows, query, { by: 'id', direction: 'desc' }).map(toInteraction)
    },
  }),
  route({
    id: 'interactions.list',
    method: 'GET',
    path: '/api/issues/:issueId/interactions',
    summary: 'List the interactions of an issue, oldest first',
    who: [board, agent],
    query,
    responses: { 200: v.array(Interaction) },
    run: (ctx, { caller, params, query }) => {
      const rows = selectInteractions({ issueId: getIssue(ctx, caller, params.issueId).id, statuses: query.status })
      return readPage(ctx.db, rows, query, { by: 'id' }).map(toInteraction)
    },
  }),
  route({
    id: 'interactions.create',
    method: 'POST',
    path: '/api/issues/:issueId/interactions',
    summary: 'Create an interaction: ask people a question on an issue',
    description:
      'A question, a confirmation, a choice, or sub-tasks to accept. A person answers it; the answer is a comment on the issue, which wakes the agent that asked.',
    who: [board, agent],
    role: 'member',
    body: NewInteraction,
    responses: { 201: Interaction },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => toInteraction(askPeople(ctx, caller, params.issueId, body))),
  }),
  route({
    id: 'interactions.get',
    method: 'GET',
    path: '/api/issues/:issueId/interactions/:interactionId',
    summary: 'Get an interaction',
    who: [board, agent],
    responses: { 200: Interaction },
    run: (ctx, { caller, params }) => toInteraction(getInteraction(ctx, caller, params.issueId, params.interactionId)),
  }),
  route({
    id: 'interactions.answer',
    method: 'POST',
    path: '/api/issues/:issueId/interactions/:interactionId/answer',
    summary: 'Answer an interaction',
    description:
      'Send `text` for a question, `confirmed` for a confirm, `selected` for choose and suggest_tasks. Accepted tasks become sub-issues of the issue.',
    who: [board],
    role: 'member',
    body: AnswerBody,
    responses: { 200: Interaction },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => toInteraction(answerInteraction(ctx, caller, params.issueId, params.interactionId, body))),
  }),
  answerRoute('accept', 'Accept an interaction', AcceptBody, toAcceptance),
  answerRoute('reject', 'Reject an interaction', RejectBody, toRejection),
  answerRoute('respond', 'Answer the questions of an interaction', RespondBody, toResponse),
  route({
    id: 'interactions.cancel',
    method: 'POST',
    path: '/api/issues/:issueId/interactions/:interactionId/cancel',
    summary: 'Cancel an interaction',
    description: 'For the agent that asked, and the board.',
    who: [board, agent],
    role: 'member',
    responses: { 200: Interaction },
    run: (ctx, { caller, params }) =>
      ctx.write(() => toInteraction(cancelInteraction(ctx, caller, params.issueId, params.interactionId))),
  }),
]
