import { html } from 'hono/html'
import * as v from 'valibot'
import { changePassword, signOutEverywhere } from '../../access/auth/accounts.ts'
import { PASSWORD_BYTES } from '../../access/auth/password.ts'
import type { AccessContext } from '../../access/auth/sign-in.ts'
import { createToken } from '../../access/board/token.ts'
import { listLiveTokens, revokeToken } from '../../access/board/token-queries.ts'
import { findUser, listSessions } from '../../access/board/user-queries.ts'
import type { BoardCaller, Caller } from '../../access/caller/caller.ts'
import { anyone } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import * as field from '../../http/fields.ts'
import { type Html, pageOf, pageReply } from '../../http/html-page.ts'
import { limitRate } from '../../http/rate-limit.ts'
import type { Reply } from '../../http/route.ts'
import { validate } from '../../http/validate.ts'
import { type AppError, notFound } from '../../platform/errors.ts'
import { deviceOf } from '../device.ts'
import { formOf } from './form.ts'
import { navigationFor } from './home-routes.ts'
import { seeOther, show, showFormOnError, signedOut } from './page-response.ts'

const text = v.optional(v.string(), '')

const Day = v.pipe(v.string(), v.isoDate())

const NewToken = v.strictObject({
  name: field.name,
  expires: v.pipe(
    v.string(),
    v.check((day) => day === '' || v.is(Day, day), 'must be a date or empty'),
  ),
})

/** The number of tokens that the page lists. */
const SHOWN = 100

/** The page of the caller's account and its forms. A caller that is not signed in is redirected to the sign-in page and back. */
export const accountRoutes = [
  route({
    id: 'pages.account',
    method: 'GET',
    path: '/account',
    summary: "Show the page of the caller's account",
    who: [anyone],
    query: v.object({ done: text }),
    responses: { 200: 'text/html', 303: null },
    run: (ctx, { caller, query }) =>
      requireSession(ctx, caller, (person) => show(ctx, () => accountPage(ctx, person, { done: DONE[query.done] }))),
  }),
  route({
    id: 'pages.changePassword',
    method: 'POST',
    path: '/account/password',
    summary: 'Change the password with the form of the page',
    who: [anyone],
    form: true,
    secret: true,
    body: v.strictObject({ email: text, currentPassword: text, newPassword: text }),
    responses: { 303: null },
    run: (ctx, { caller, body, header }) =>
      requireSession(ctx, caller, (person) =>
        showFormOnError(
          async () => {
            const who = { userId: person.userId, cookie: header('cookie') ?? '', userAgent: header('user-agent') }
            return seeOther('/account?done=password', await changePassword(ctx, who, body))
          },
          (password) => accountPage(ctx, person, { password }),
        ),
      ),
  }),
  route({
    id: 'pages.signOutEverywhere',
    method: 'POST',
    path: '/account/sign-out-everywhere',
    summary: 'End all sessions with the form of the page',
    who: [anyone],
    form: true,
    secret: true,
    responses: { 303: null },
    run: (ctx, { caller, header }) =>
      requireSession(ctx, caller, async ({ userId }) =>
        signedOut(await signOutEverywhere(ctx, { userId, cookie: header('cookie') ?? '' })),
      ),
  }),
  route({
    id: 'pages.createToken',
    method: 'POST',
    path: '/account/tokens',
    summary: 'Create a token for scripts with the form of the page, and show it once',
    who: [anyone],
    form: true,
    secret: true,
    body: v.strictObject({ name: text, expires: text }),
    responses: { 200: 'text/html', 303: null },
    run: (ctx, { caller, body }) =>
      requireSession(ctx, caller, (person) =>
        showFormOnError(
          async () => {
            const { name, expires } = validate(NewToken, body)
            const expiresAt = expires === '' ? null : `${expires}T00:00:00.000Z`
            limitRate(ctx, ctx.signIn.rates, 'key', person.userId)
            const { token } = await ctx.write(() => createToken(ctx, person, { name, expiresAt }))
            return pageReply(tokenPage(person, name, token))
          },
          (tokens) => accountPage(ctx, person, { tokens }),
        ),
      ),
  }),
  route({
    id: 'pages.revokeToken',
    method: 'POST',
    path: '/account/tokens/revoke',
    summary: 'Revoke a token with the form of the page',
    who: [anyone],
    form: true,
    secret: true,
    body: v.strictObject({ tokenId: text }),
    responses: { 303: null },
    run: (ctx, { caller, body: { tokenId } }) =>
      requireSession(ctx, caller, (person) =>
        showFormOnError(
          async () => {
            const revoked = await ctx.write(() =>
              revokeToken(ctx.db, { id: tokenId, userId: person.userId, at: ctx.now }),
            )
            if (!revoked) throw notFound('token', tokenId)
            return seeOther('/account?done=token')
          },
          (tokens) => accountPage(ctx, person, { tokens }),
        ),
      ),
  }),
]

/** Runs `work` for a person with a session, or redirects to the sign-in page. Tokens cannot use these pages. */
async function requireSession(
  ctx: AccessContext,
  caller: Caller,
  work: (person: BoardCaller) => Reply | Promise<Reply>,
): Promise<Reply> {
  if (ctx.config.mode !== 'authenticated') return show(ctx, () => '')
  if (caller.type !== 'board' || caller.via !== 'session') return seeOther('/login?next=/account')
  return work(caller)
}

const DONE: Record<string, string> = {
  password: 'Your password is changed. All your other sessions are ended.',
  token: 'The token is revoked.',
}

/** The message of the page: a completed action, or the error of one of its forms. */
interface Outcome {
  done?: string | undefined
  password?: AppError
  tokens?: AppError
}

function accountPage(ctx: AccessContext, person: BoardCaller, { done, password, tokens }: Outcome): string {
  const { name, email } = findUser(ctx.db, { id: person.userId })!
  const body = html`<p>You are signed in as ${name} (${email}).</p>
<h2>Password</h2>
${formOf({
  action: '/account/password',
  submit: 'Change the password',
  fields: [
    { name: 'email', label: 'E-mail', type: 'email', value: email, autocomplete: 'username', readonly: true },
    { name: 'currentPassword', label: 'Current password', type: 'password', autocomplete: 'current-password' },
    {
      name: 'newPassword',
      label: 'New password',
      type: 'password',
      autocomplete: 'new-password',
      least: PASSWORD_BYTES.least,
      hint: `At least ${PASSWORD_BYTES.least} characters. The change ends all your other sessions.`,
    },
  ],
  error: password,
})}
<h2>Tokens for scripts</h2>
<p>A token has your permissions on the command line (<code>SERVICE_API_KEY</code>) and in the API, until you revoke it.</p>
${tokenList(ctx, person)}
${formOf({
  action: '/account/tokens',
  submit: 'Create a token',
  fields: [
    { name: 'name', label: 'Purpose', hint: 'For example: my laptop.' },
    { name: 'expires', label: 'Expires on', type: 'date', hint: 'Leave it empty for a token that does not expire.' },
  ],
  error: tokens,
})}
<h2>Sessions</h2>
${sessionList(ctx, person)}
<p>You can sign out everywhere: here and in all other browsers. Tokens remain valid.</p>
${formOf({ action: '/account/sign-out-everywhere', submit: 'Sign out everywhere', fields: [], isMinor: true })}`
  return pageOf({ title: 'Your account', body, error: password ?? tokens, done, links: navigationFor(person) })
}

function tokenList(ctx: AccessContext, { userId }: BoardCaller): Html | false {
  const live = listLiveTokens(ctx.db, { userId, limit: SHOWN })
  const items = live.map(({ id, name, prefix, last_used_at, expires_at }) => {
    const fields = [{ name: 'tokenId', label: '', type: 'hidden', value: id }] as const
    const revoke = formOf({ action: '/account/tokens/revoke', submit: `Revoke ${name}`, fields, isMinor: true })
    const used = last_used_at === null ? 'not used yet' : `last used ${last_used_at.slice(0, 10)}`
    const expires = expires_at === null ? 'does not expire' : `expires ${expires_at.slice(0, 10)}`
    return html`<li><span>${name} <span class="hint">${prefix}…, ${used}, ${expires}</span></span>${revoke}</li>`
  })
  return items.length > 0 && html`<ul>${items}</ul>`
}

function sessionList(ctx: AccessContext, { userId }: BoardCaller): Html {
  const items = listSessions(ctx.db, { userId, at: ctx.now }).map(
    ({ user_agent, created_at, expires_at }) =>
      html`<li><span>${deviceOf(user_agent)} <span class="hint">signed in ${created_at.slice(0, 10)}, ends ${expires_at.slice(0, 10)}</span></span></li>`,
  )
  return html`<ul>${items}</ul>`
}

const tokenPage = (person: BoardCaller, name: string, token: string) =>
  pageOf({
    title: `The token ${name}`,
    body: html`<p>Copy the token. It is not displayed again.</p>
<pre>${token}</pre>
<p>The command line reads it from <code>SERVICE_API_KEY</code>.</p>
<p><a href="/account">Back to your account</a></p>`,
    links: navigationFor(person),
  })
