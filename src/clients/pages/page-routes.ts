import { html } from 'hono/html'
import * as v from 'valibot'
import { identityOf, joinAsNew, setUp, signIn } from '../../access/auth/accounts.ts'
import { PASSWORD_BYTES } from '../../access/auth/password.ts'
import { personOfReset, resetPassword } from '../../access/auth/reset-password.ts'
import type { AccessContext } from '../../access/auth/sign-in.ts'
import { acceptInvitation, openInvitation } from '../../access/board/invitation.ts'
import { findUser } from '../../access/board/user-queries.ts'
import type { Caller } from '../../access/caller/caller.ts'
import { withArticle } from '../../access/caller/role.ts'
import { anyone } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import { errorPage, type Html, pageOf } from '../../http/html-page.ts'
import { sameOriginPath } from '../../http/same-origin-path.ts'
import { findCompany } from '../../organization/company/queries.ts'
import { AppError } from '../../platform/errors.ts'
import { type FormField, formOf } from './form.ts'
import { INTRODUCTION } from './home-routes.ts'
import { seeOther, show, showFormOnError, signedOut } from './page-response.ts'

const text = v.optional(v.string(), '')
const ByToken = v.object({ token: text })
const AccountForm = v.strictObject({ token: text, name: text, email: text, password: text })
type AccountForm = v.InferOutput<typeof AccountForm>

/** The sign-in pages. They need no scripts: the response to each form is a page or a redirect. */
export const pageRoutes = [
  route({
    id: 'pages.login',
    method: 'GET',
    path: '/login',
    summary: 'Show the page to sign in',
    who: [anyone],
    query: v.object({ next: text }),
    responses: { 200: 'text/html', 303: null },
    run: (ctx, { caller, query }) =>
      ctx.signIn.identity && caller.type === 'board'
        ? seeOther(sameOriginPath(query.next))
        : show(ctx, () => loginPage(ctx, query)),
  }),
  route({
    id: 'pages.signIn',
    method: 'POST',
    path: '/login',
    summary: 'Sign in with the form of the page',
    who: [anyone],
    limits: ['sign-in of an address', 'sign-in', 'sign-in under attack'],
    form: true,
    secret: true,
    body: v.strictObject({ email: text, password: text, next: text }),
    responses: { 303: null },
    run: (ctx, { body, address, header }) =>
      showFormOnError(
        async () =>
          seeOther(
            sameOriginPath(body.next),
            await signIn(ctx, address, body, { cookie: header('cookie'), userAgent: header('user-agent') }),
          ),
        (error) => loginPage(ctx, body, error),
      ),
  }),
  route({
    id: 'pages.logout',
    method: 'GET',
    path: '/logout',
    summary: 'Show the page to sign out',
    who: [anyone],
    responses: { 200: 'text/html' },
    run: (ctx) =>
      show(ctx, () =>
        pageOf({ title: 'Sign out', body: formOf({ action: '/logout', submit: 'Sign out', fields: [] }) }),
      ),
  }),
  route({
    id: 'pages.signOut',
    method: 'POST',
    path: '/logout',
    summary: 'Sign out with the form of the page',
    who: [anyone],
    form: true,
    secret: true,
    responses: { 303: null },
    run: async (ctx, { header }) => signedOut(await identityOf(ctx).signOut(header('cookie') ?? '')),
  }),
  route({
    id: 'pages.setup',
    method: 'GET',
    path: '/setup',
    summary: 'Show the page that creates the first owner',
    who: [anyone],
    query: ByToken,
    responses: { 200: 'text/html' },
    run: (ctx, { query }) =>
      show(ctx, () => {
        if (!ctx.signIn.setup?.matches(query.token)) throw gone()
        return setupPage({ ...EMPTY, token: query.token })
      }),
  }),
  route({
    id: 'pages.setUp',
    method: 'POST',
    path: '/setup',
    summary: 'Create the first owner with the form of the page',
    who: [anyone],
    limits: ['link'],
    form: true,
    secret: true,
    body: AccountForm,
    responses: { 303: null },
    run: (ctx, { body: { token, ...form }, header }) =>
      showFormOnError(
        async () => seeOther('/', await setUp(ctx, token, form, header('user-agent'))),
        (error) => setupPage({ token, ...form }, error),
      ),
  }),
  route({
    id: 'pages.join',
    method: 'GET',
    path: '/join',
    summary: 'Show the page of an invitation',
    who: [anyone],
    query: ByToken,
    responses: { 200: 'text/html' },
    run: (ctx, { caller, query }) => show(ctx, () => joinPage(ctx, caller, { ...EMPTY, token: query.token })),
  }),
  route({
    id: 'pages.accept',
    method: 'POST',
    path: '/join',
    summary: 'Accept an invitation with the form of the page',
    who: [anyone],
    limits: ['link'],
    form: true,
    secret: true,
    body: AccountForm,
    responses: { 303: null },
    run: (ctx, { caller, body: { token, ...form }, header }) =>
      showFormOnError(
        async () => {
          if (caller.type === 'board') {
            await ctx.write(() => acceptInvitation(ctx, caller.userId, token))
            return seeOther('/')
          }
          return seeOther('/', await joinAsNew(ctx, token, form, header('user-agent')))
        },
        (error) => joinPage(ctx, caller, { token, ...form }, error),
      ),
  }),
  route({
    id: 'pages.reset',
    method: 'GET',
    path: '/reset',
    summary: 'Show the page of a password-reset link',
    who: [anyone],
    query: ByToken,
    responses: { 200: 'text/html' },
    run: (ctx, { query }) => show(ctx, () => resetPage(ctx, query.token)),
  }),
  route({
    id: 'pages.resetPassword',
    method: 'POST',
    path: '/reset',
    summary: 'Reset the password with the form of the page',
    who: [anyone],
    limits: ['link'],
    form: true,
    secret: true,
    body: v.strictObject({ token: text, email: text, password: text }),
    responses: { 303: null },
    run: (ctx, { body, header }) =>
      showFormOnError(
        async () =>
          seeOther('/', await resetPassword(ctx, body, { cookie: header('cookie'), userAgent: header('user-agent') })),
        (error) => resetPage(ctx, body.token, error),
      ),
  }),
  route({
    id: 'pages.enter',
    method: 'GET',
    path: '/enter',
    summary: 'Exchange the token of a start with --require-token for a cookie',
    who: [anyone],
    usesLinkUp: true,
    query: ByToken,
    responses: { 303: null },
    run: (ctx, { query }) => {
      const cookie = ctx.signIn.local.enter(query.token)
      return cookie ? seeOther('/', cookie) : errorPage(gone())
    },
  }),
]

const EMPTY = { name: '', email: '', password: '' }

const gone = () =>
  new AppError(
    'not_found',
    'This link was already used, or belongs to an earlier start of the server. Use the link that the server printed last.',
  )

function loginPage(
  ctx: AccessContext,
  { email = '', next }: { email?: string; next: string },
  error?: AppError,
): string {
  const fields: FormField[] = [
    { name: 'next', label: '', type: 'hidden', value: next },
    { name: 'email', label: 'E-mail', type: 'email', value: email, autocomplete: 'username' },
    { name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' },
  ]
  const body = html`${ctx.signIn.setup?.token !== undefined && html`<p>There is no account yet. Open the link that the server printed at its start to create the first one.</p>`}
${formOf({ action: '/login', submit: 'Sign in', fields, error })}
<p class="hint">Forgot your password? The operator of this server can create a reset link with <code>service reset-password</code>.</p>
${INTRODUCTION}`
  return pageOf({ title: 'Sign in', body, error })
}

const newPassword = (label: string): FormField => ({
  name: 'password',
  label,
  type: 'password',
  autocomplete: 'new-password',
  least: PASSWORD_BYTES.least,
  hint: `At least ${PASSWORD_BYTES.least} characters.`,
})

const accountFields = ({ token, name, email }: AccountForm): FormField[] => [
  { name: 'token', label: '', type: 'hidden', value: token },
  { name: 'name', label: 'Your name', value: name, autocomplete: 'name' },
  { name: 'email', label: 'E-mail', type: 'email', value: email, autocomplete: 'username' },
  newPassword('Password'),
]

const setupPage = (form: AccountForm, error?: AppError) =>
  pageOf({
    title: 'Set up this server',
    body: html`<p>This creates the first account, which owns all companies of this server.</p>
${formOf({ action: '/setup', submit: 'Create the account', fields: accountFields(form), error })}`,
    error,
  })

function joinPage(ctx: AccessContext, caller: Caller, form: AccountForm, error?: AppError): string {
  const invitation = openInvitation(ctx, form.token)
  const company = findCompany(ctx.db, { id: invitation.company_id })!
  const person = caller.type === 'board' ? findUser(ctx.db, { id: caller.userId }) : undefined
  const here = `/join?token=${encodeURIComponent(form.token)}`
  const body: Html = person
    ? html`<p>You are signed in as ${person.name} (${person.email}).</p>
${formOf({ action: '/join', submit: 'Accept', fields: [accountFields(form)[0]!], error })}`
    : html`<p><a href="/login?next=${encodeURIComponent(here)}">I have an account: sign in first</a></p>
${formOf({ action: '/join', submit: 'Create an account and join', fields: accountFields(form), error })}`
  const invited = html`<p>You are invited as ${withArticle(invitation.role)}.</p>${body}`
  return pageOf({ title: `Join ${company.name}`, body: invited, error })
}

function resetPage(ctx: AccessContext, token: string, error?: AppError): string {
  const { email } = personOfReset(ctx, token)
  const fields: FormField[] = [
    { name: 'token', label: '', type: 'hidden', value: token },
    { name: 'email', label: 'E-mail', type: 'email', value: email, autocomplete: 'username', readonly: true },
    newPassword('New password'),
  ]
  const body = html`<p>This signs you in here and ends all your other sessions.</p>
${formOf({ action: '/reset', submit: 'Set the password', fields, error })}`
  return pageOf({ title: 'Set a new password', body, error })
}
