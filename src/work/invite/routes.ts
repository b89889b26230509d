import * as v from 'valibot'
import { anyone, board, ceo } from '../../access/caller/who.ts'
import type { Input } from '../../access/route.ts'
import { route } from '../../access/route.ts'
import { LIST_QUERY, readPage } from '../../http/list.ts'
import { alias, reply } from '../../http/route.ts'
import type { Context } from '../../platform/context.ts'
import { claimKey, getInvite, joinByInvite } from './accept.ts'
import { createInvite, revokeInvite } from './create.ts'
import { Acceptance, Accepted, Claim, Claimed, Invite, InvitePrompt, NewInvite, toInvite } from './invite.ts'
import { onboardingText } from './onboarding.ts'
import { selectInvites } from './queries.ts'

const create = route({
  id: 'invites.create',
  method: 'POST',
  path: '/api/companies/:companyId/gateway/invite-prompt',
  summary: 'Invite an outside agent with a token and an onboarding text',
  description:
    'For the board (with the invite permission in authenticated mode) and the CEO agent. The invite works once and expires after a day. Only this response contains its token.',
  who: [board, ceo],
  body: InvitePrompt,
  bodyOptional: true,
  secret: true,
  responses: { 201: NewInvite },
  run: (ctx, { caller, params, body, header }) =>
    ctx.write(() =>
      createInvite(ctx, caller, params.companyId, body.agentMessage?.trim() || null, baseUrlOf(ctx, header)),
    ),
})

const list = route({
  id: 'invites.list',
  method: 'GET',
  path: '/api/companies/:companyId/gateway/invites',
  summary: 'List the invites of outside agents, newest first',
  who: [board, ceo],
  role: 'admin',
  query: v.object(LIST_QUERY),
  responses: { 200: v.array(Invite) },
  run: (ctx, { params: { companyId }, query }) =>
    readPage(ctx.db, selectInvites({ companyId }), query, { by: 'id', direction: 'desc' }).map((row) =>
      toInvite(row, ctx.now),
    ),
})

export const inviteRoutes = [
  create,
  alias(create, { id: 'invites.createAlias', path: '/api/companies/:companyId/openclaw/invite-prompt' }),
  list,
  alias(list, { id: 'invites.listAlias', path: '/api/companies/:companyId/invites' }),
  route({
    id: 'invites.revoke',
    method: 'DELETE',
    path: '/api/companies/:companyId/gateway/invites/:inviteId',
    summary: 'Revoke an invite, and the claim of its key',
    who: [board, ceo],
    responses: { 200: Invite },
    run: (ctx, { caller, params }) =>
      ctx.write(() => toInvite(revokeInvite(ctx, caller, params.companyId, params.inviteId), ctx.now)),
  }),
  route({
    id: 'invites.onboarding',
    method: 'GET',
    path: '/api/invites/:token/onboarding.txt',
    summary: 'Get the onboarding text of an invite, as plain text',
    who: [anyone],
    responses: { 200: 'text/plain' },
    run: (ctx, { params, header }) => {
      const text = onboardingText(ctx, getInvite(ctx, params.token), params.token, baseUrlOf(ctx, header))
      // The URL contains the token.
      return reply(200, Buffer.from(text), {
        'content-type': 'text/plain; charset=utf-8',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      })
    },
  }),
  route({
    id: 'invites.accept',
    method: 'POST',
    path: '/api/invites/:token/accept',
    summary: 'Accept an invite: create an agent that is pending approval',
    description: 'Only this response contains the claimSecret, with which the agent claims its key after the approval.',
    who: [anyone],
    body: Acceptance,
    secret: true,
    responses: { 201: Accepted },
    run: (ctx, { params, body }) => ctx.write(() => joinByInvite(ctx, params.token, body)),
  }),
  route({
    id: 'invites.claimKey',
    method: 'POST',
    path: '/api/invites/:token/claim-key',
    summary: 'Claim the key of an invited agent, once, after the approval',
    description: '422 `agent_not_ready` until the board has decided. Retry later.',
    who: [anyone],
    body: Claim,
    secret: true,
    responses: { 201: Claimed },
    run: (ctx, { params, body }) => ctx.write(() => claimKey(ctx, params.token, body.claimSecret)),
  }),
]

/** Returns this server's URL as the caller reaches it. The gate has checked the Host header. */
const baseUrlOf = (ctx: Context, header: Input['header']) =>
  `http://${header('host') ?? `${ctx.config.host}:${ctx.config.port}`}`
