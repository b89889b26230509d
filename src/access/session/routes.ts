import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import { urlForPeople } from '../../http/proxy.ts'
import { reply } from '../../http/route.ts'
import { notFound } from '../../platform/errors.ts'
import { changePassword, identityOf, signIn, signOutEverywhere } from '../auth/accounts.ts'
import { signOutHeaders } from '../auth/cookies.ts'
import { makeResetLink } from '../auth/reset-password.ts'
import { listMemberships } from '../board/membership-queries.ts'
import { deleteSession, findUser, listSessions } from '../board/user-queries.ts'
import { ROLES } from '../caller/role.ts'
import { anyone, board, operator, person, signedIn } from '../caller/who.ts'
import { route } from '../route.ts'

/** The person who is signed in. */
const Me = v.strictObject({
  userId: v.string(),
  name: v.pipe(v.nullable(v.string()), v.description('Null in local trusted mode, which has no accounts.')),
  email: v.nullable(v.string()),
  memberships: v.array(v.strictObject({ companyId: field.id, role: v.picklist(ROLES) })),
  isOperator: v.pipe(
    v.boolean(),
    v.description(
      'Whether the person is the board of the whole server: may create companies, freeze, and add placements.',
    ),
  ),
})

/** A browser in which a person is signed in. */
const Session = v.strictObject({
  id: v.string(),
  userAgent: v.pipe(v.nullable(v.string()), v.description('The `User-Agent` header of the browser.')),
  createdAt: field.timestamp,
  expiresAt: field.timestamp,
  isCurrent: v.pipe(v.boolean(), v.description('Whether the request used this session.')),
})

const Done = v.strictObject({ ok: v.literal(true) })
const typed = v.pipe(v.string(), v.maxLength(1_000))

export const sessionRoutes = [
  route({
    id: 'session.get',
    method: 'GET',
    path: '/api/auth/session',
    summary: 'Get the signed-in person and their roles in companies',
    who: [board],
    responses: { 200: Me },
    run: (ctx, { caller }) => {
      const userId = caller.type === 'board' ? caller.userId : ''
      const user = findUser(ctx.db, { id: userId })
      const memberships = listMemberships(ctx.db, { userId }).map(({ company_id, role }) => ({
        companyId: company_id,
        role,
      }))
      return {
        userId,
        name: user?.name ?? null,
        email: user?.email ?? null,
        memberships,
        isOperator: operator.allows(ctx, caller),
      }
    },
  }),
  route({
    id: 'session.signIn',
    method: 'POST',
    path: '/api/auth/sign-in',
    summary: 'Sign in with e-mail and password. The session is a cookie',
    who: [anyone],
    limits: ['sign-in of an address', 'sign-in', 'sign-in under attack'],
    secret: true,
    body: v.strictObject({ email: typed, password: typed }),
    responses: { 200: Done },
    run: async (ctx, { body, address, header }) =>
      reply(
        200,
        { ok: true },
        {
          'set-cookie': await signIn(ctx, address, body, { cookie: header('cookie'), userAgent: header('user-agent') }),
        },
      ),
  }),
  route({
    id: 'session.signOut',
    method: 'POST',
    path: '/api/auth/sign-out',
    summary: 'Sign out: end the session of the cookie',
    who: [anyone],
    responses: { 200: Done },
    run: async (ctx, { header }) =>
      reply(200, { ok: true }, signOutHeaders(await identityOf(ctx).signOut(header('cookie') ?? ''))),
  }),
  route({
    id: 'session.signOutEverywhere',
    method: 'POST',
    path: '/api/auth/sign-out-everywhere',
    summary: 'End all sessions of the caller. Tokens remain valid',
    who: [person],
    responses: { 200: Done },
    run: async (ctx, { caller, header }) => {
      const userId = caller.type === 'board' ? caller.userId : ''
      const cookie = await signOutEverywhere(ctx, { userId, cookie: header('cookie') ?? '' })
      return reply(200, { ok: true }, signOutHeaders(cookie))
    },
  }),
  route({
    id: 'session.list',
    method: 'GET',
    path: '/api/auth/sessions',
    summary: "List the caller's sessions, the latest first",
    who: [person],
    responses: { 200: v.array(Session) },
    run: async (ctx, { caller, header }) => {
      const current = await identityOf(ctx).sessionOf(header('cookie') ?? '')
      const userId = caller.type === 'board' ? caller.userId : ''
      return listSessions(ctx.db, { userId, at: ctx.now }).map((row) => ({
        id: row.id,
        userAgent: row.user_agent || null,
        createdAt: row.created_at,
        expiresAt: row.expires_at,
        isCurrent: row.id === current?.sessionId,
      }))
    },
  }),
  route({
    id: 'session.end',
    method: 'DELETE',
    path: '/api/auth/sessions/:sessionId',
    summary: "End one of the caller's sessions",
    who: [person],
    responses: { 200: Done },
    run: (ctx, { caller, params }) =>
      ctx.write(() => {
        const userId = caller.type === 'board' ? caller.userId : ''
        if (deleteSession(ctx.db, { id: params.sessionId, userId }) === 0) throw notFound('session', params.sessionId)
        return { ok: true as const }
      }),
  }),
  route({
    id: 'session.changePassword',
    method: 'POST',
    path: '/api/auth/change-password',
    summary: 'Change the password and end all other sessions',
    who: [signedIn],
    limits: ['sign-in'],
    secret: true,
    body: v.strictObject({ currentPassword: typed, newPassword: typed }),
    responses: { 200: Done },
    run: async (ctx, { caller, body, header }) => {
      const userId = caller.type === 'board' ? caller.userId : ''
      const who = { userId, cookie: header('cookie') ?? '', userAgent: header('user-agent') }
      return reply(200, { ok: true }, { 'set-cookie': await changePassword(ctx, who, body) })
    },
  }),
  route({
    id: 'session.makeResetLink',
    method: 'POST',
    path: '/api/auth/reset-links',
    summary: 'Create a password-reset link, as `service reset-password` does',
    description: 'The key is in the data directory of the server, which only its operator can read.',
    who: [anyone],
    limits: ['link'],
    secret: true,
    body: v.strictObject({ key: typed, email: typed }),
    responses: { 201: v.strictObject({ url: v.string(), expiresAt: field.timestamp }) },
    run: (ctx, { body, header }) => {
      const { token, expiresAt } = makeResetLink(ctx, body)
      const base = urlForPeople(ctx.config, `http://${header('host') ?? 'localhost'}`)
      return { url: `${base}/reset?token=${token}`, expiresAt }
    },
  }),
]
