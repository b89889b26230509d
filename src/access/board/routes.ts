import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import { LIST_QUERY, readPage } from '../../http/list.ts'
import { linkTo } from '../../http/proxy.ts'
import { limitRate } from '../../http/rate-limit.ts'
import { notFound } from '../../platform/errors.ts'
import type { BoardCaller, Caller } from '../caller/caller.ts'
import { ROLES } from '../caller/role.ts'
import { board, person, signedIn } from '../caller/who.ts'
import { route } from '../route.ts'
import { Invitation, InvitationWithLink, invite, NewInvitation, revokeInvitation, toInvitation } from './invitation.ts'
import { selectInvitations } from './invitation-queries.ts'
import { changeRole, Member, removeMember, toMember } from './member.ts'
import { selectMembers } from './membership-queries.ts'
import { createToken, NewToken, Token, toToken } from './token.ts'
import { revokeToken, selectTokens } from './token-queries.ts'

export const boardRoutes = [
  route({
    id: 'members.list',
    method: 'GET',
    path: '/api/companies/:companyId/members',
    summary: 'List the members of a company and their roles',
    description: 'The list is empty in local trusted mode.',
    who: [board],
    query: v.object(LIST_QUERY),
    responses: { 200: v.array(Member) },
    run: (ctx, { params: { companyId }, query }) =>
      readPage(ctx.db, selectMembers({ companyId }), query, { by: 'user_id' }).map(toMember),
  }),
  route({
    id: 'members.update',
    method: 'PATCH',
    path: '/api/companies/:companyId/members/:userId',
    summary: 'Change the role of a member',
    who: [person],
    role: 'owner',
    body: v.strictObject({ role: v.picklist(ROLES) }),
    responses: { 200: Member },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => changeRole(ctx, caller, params.companyId, params.userId, body.role)),
  }),
  route({
    id: 'members.remove',
    method: 'DELETE',
    path: '/api/companies/:companyId/members/:userId',
    summary: 'Remove a member from a company, or leave it',
    who: [person],
    role: 'viewer',
    responses: { 200: Member },
    run: (ctx, { caller, params }) =>
      ctx.write(() => removeMember(ctx, asPerson(caller), params.companyId, params.userId)),
  }),
  route({
    id: 'invitations.list',
    method: 'GET',
    path: '/api/companies/:companyId/invitations',
    summary: 'List the invitations of people to a company, newest first',
    who: [person],
    role: 'admin',
    query: v.object(LIST_QUERY),
    responses: { 200: v.array(Invitation) },
    run: (ctx, { params: { companyId }, query }) =>
      readPage(ctx.db, selectInvitations({ companyId }), query, { by: 'id', direction: 'desc' }).map((row) =>
        toInvitation(row, ctx.now),
      ),
  }),
  route({
    id: 'invitations.create',
    method: 'POST',
    path: '/api/companies/:companyId/invitations',
    summary: 'Invite a person with a link, which only this response contains',
    who: [person],
    limits: ['invitation'],
    body: NewInvitation,
    bodyOptional: true,
    secret: true,
    responses: { 201: InvitationWithLink },
    run: (ctx, { caller, params, body, header }) => {
      limitRate(ctx, ctx.signIn.rates, 'invitation', asPerson(caller).userId)
      return ctx.write(() => {
        const { row, token } = invite(ctx, asPerson(caller), params.companyId, body)
        return { ...toInvitation(row, ctx.now), url: linkTo(ctx.config, header, `/join?token=${token}`) }
      })
    },
  }),
  route({
    id: 'invitations.revoke',
    method: 'DELETE',
    path: '/api/companies/:companyId/invitations/:invitationId',
    summary: 'Revoke an invitation',
    who: [person],
    responses: { 200: Invitation },
    run: (ctx, { caller, params }) =>
      ctx.write(() => toInvitation(revokeInvitation(ctx, caller, params.companyId, params.invitationId), ctx.now)),
  }),
  route({
    id: 'tokens.list',
    method: 'GET',
    path: '/api/board/tokens',
    summary: "List the caller's tokens by their first characters, oldest first",
    who: [person],
    query: v.object(LIST_QUERY),
    responses: { 200: v.array(Token) },
    run: (ctx, { caller, query }) =>
      readPage(ctx.db, selectTokens({ userId: asPerson(caller).userId }), query, { by: 'id' }).map(toToken),
  }),
  route({
    id: 'tokens.create',
    method: 'POST',
    path: '/api/board/tokens',
    summary: 'Create a token for scripts, which only this response contains',
    description:
      'The token has the permissions of its person, except that it cannot create tokens or change the password.',
    who: [signedIn],
    limits: ['key'],
    body: v.strictObject({
      name: v.optional(field.name, 'token'),
      expiresAt: v.optional(v.nullable(field.expiry), null),
    }),
    bodyOptional: true,
    secret: true,
    responses: { 201: NewToken },
    run: (ctx, { caller, body }) => {
      limitRate(ctx, ctx.signIn.rates, 'key', asPerson(caller).userId)
      return ctx.write(() => createToken(ctx, asPerson(caller), body))
    },
  }),
  route({
    id: 'tokens.revoke',
    method: 'DELETE',
    path: '/api/board/tokens/:tokenId',
    summary: "Revoke one of the caller's tokens",
    who: [person],
    responses: { 200: Token },
    run: (ctx, { caller, params }) =>
      ctx.write(() => {
        const row = revokeToken(ctx.db, { id: params.tokenId, userId: asPerson(caller).userId, at: ctx.now })
        if (!row) throw notFound('token', params.tokenId)
        return toToken(row)
      }),
  }),
]

/** The routes above allow people only. */
function asPerson(caller: Caller): BoardCaller {
  if (caller.type !== 'board') throw new Error('Only people may use this endpoint.')
  return caller
}
