import * as v from 'valibot'
import { acceptInvitation, openInvitation } from '../board/invitation.ts'
import { findUser } from '../board/user-queries.ts'
import { findCompany } from '../company/queries.ts'
import type { Context } from '../context.ts'
import { AppError } from '../errors.ts'
import type { Caller } from '../http/caller.ts'
import { type Reply, reply, route } from '../http/route.ts'
import { anyone } from '../http/who.ts'
import { identityOf, joinAsNew, setUp, signIn } from './accounts.ts'
import { type FormField, formOf, type Html, html, PAGE_HEADERS, pageOf } from './page.ts'

const text = v.optional(v.string(), '')
const ByToken = v.object({ token: text })
const AccountForm = v.strictObject({ token: text, name: text, email: text, password: text })
type AccountForm = v.InferOutput<typeof AccountForm>

/** The pages of signing in. They need no script, and each form is answered by a page too. */
export const pageRoutes = [
  route({
    id: 'pages.login',
    method: 'GET',
    path: '/login',
    summary: 'Show the page to sign in',
    who: [anyone],
    query: v.object({ next: text }),
    answers: { 200: null },
    run: (ctx, { query }) => show(ctx, () => loginPage(query)),
  }),
  route({
    id: 'pages.signIn',
    method: 'POST',
    path: '/login',
    summary: 'Sign in by the form of the page',
    who: [anyone],
    form: true,
    secret: true,
    body: v.strictObject({ email: text, password: text, next: text }),
    answers: { 303: null },
    run: (ctx, { body, address, header }) =>
      orShow(
        async () => seeOther(pathOf(body.next), await signIn(ctx, address, body, header('cookie'))),
        (error) => loginPage(body, error),
      ),
  }),
  route({
    id: 'pages.logout',
    method: 'GET',
    path: '/logout',
    summary: 'Show the page to sign out',
    who: [anyone],
    answers: { 200: null },
    run: (ctx) => show(ctx, () => pageOf('Sign out', formOf({ action: '/logout', submit: 'Sign out', fields: [] }))),
  }),
  route({
    id: 'pages.signOut',
    method: 'POST',
    path: '/logout',
    summary: 'Sign out by the form of the page',
    who: [anyone],
    form: true,
    secret: true,
    answers: { 303: null },
    run: async (ctx, { header }) => seeOther('/login', await identityOf(ctx).signOut(header('cookie') ?? '')),
  }),
  route({
    id: 'pages.setup',
    method: 'GET',
    path: '/setup',
    summary: 'Show the page that makes the first owner',
    who: [anyone],
    query: ByToken,
    answers: { 200: null },
    run: (ctx, { query }) =>
      show(ctx, () => {
        if (!ctx.setup?.matches(query.token)) throw gone()
        return setupPage({ ...EMPTY, token: query.token })
      }),
  }),
  route({
    id: 'pages.setUp',
    method: 'POST',
    path: '/setup',
    summary: 'Make the first owner by the form of the page',
    who: [anyone],
    form: true,
    secret: true,
    body: AccountForm,
    answers: { 303: null },
    run: (ctx, { body: { token, ...form }, address }) =>
      orShow(
        async () => seeOther('/', await setUp(ctx, address, token, form)),
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
    answers: { 200: null },
    run: (ctx, { caller, query }) => show(ctx, () => joinPage(ctx, caller, { ...EMPTY, token: query.token })),
  }),
  route({
    id: 'pages.accept',
    method: 'POST',
    path: '/join',
    summary: 'Accept an invitation by the form of the page',
    who: [anyone],
    form: true,
    secret: true,
    body: AccountForm,
    answers: { 303: null },
    run: (ctx, { caller, body: { token, ...form }, address }) =>
      orShow(
        async () => {
          if (caller.type === 'board') {
            await ctx.write(() => acceptInvitation(ctx, caller.userId, token))
            return seeOther('/')
          }
          return seeOther('/', await joinAsNew(ctx, address, token, form))
        },
        (error) => joinPage(ctx, caller, { token, ...form }, error),
      ),
  }),
  route({
    id: 'pages.enter',
    method: 'GET',
    path: '/enter',
    summary: 'Exchange the token of a start with --require-token for a cookie',
    who: [anyone],
    query: ByToken,
    answers: { 303: null },
    run: (ctx, { query }) => {
      const cookie = ctx.localAccess.enter(query.token)
      return cookie ? seeOther('/', cookie) : pageReply(failurePage(gone()), 404)
    },
  }),
]

const EMPTY = { name: '', email: '', password: '' }

const gone = () =>
  new AppError('not_found', 'This link was used up, or is of another start of the server. Use the one that it prints.')

const loginPage = ({ email = '', next }: { email?: string; next: string }, error?: AppError) =>
  pageOf(
    'Sign in',
    formOf({
      action: '/login',
      submit: 'Sign in',
      fields: [
        { name: 'next', label: '', type: 'hidden', value: next },
        { name: 'email', label: 'E-mail', type: 'email', value: email, autocomplete: 'username' },
        { name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' },
      ],
    }),
    error?.message,
  )

const accountFields = ({ token, name, email }: AccountForm): FormField[] => [
  { name: 'token', label: '', type: 'hidden', value: token },
  { name: 'name', label: 'Your name', value: name, autocomplete: 'name' },
  { name: 'email', label: 'E-mail', type: 'email', value: email, autocomplete: 'username' },
  {
    name: 'password',
    label: 'Password',
    type: 'password',
    autocomplete: 'new-password',
    hint: 'At least 10 characters.',
  },
]

const setupPage = (form: AccountForm, error?: AppError) =>
  pageOf(
    'Set up this server',
    html`<p>This makes the first account, which owns what is here.</p>
${formOf({ action: '/setup', submit: 'Create the account', fields: accountFields(form) })}`,
    error?.message,
  )

function joinPage(ctx: Context, caller: Caller, form: AccountForm, error?: AppError): string {
  const invitation = openInvitation(ctx, form.token)
  const company = findCompany(ctx.db, { id: invitation.company_id })!
  const person = caller.type === 'board' ? findUser(ctx.db, { id: caller.userId }) : undefined
  const here = `/join?token=${encodeURIComponent(form.token)}`
  const body: Html = person
    ? html`<p>You are signed in as ${person.name} (${person.email}).</p>
${formOf({ action: '/join', submit: 'Accept', fields: [accountFields(form)[0]!] })}`
    : html`<p><a href="/login?next=${encodeURIComponent(here)}">I have an account: sign in first</a></p>
${formOf({ action: '/join', submit: 'Create an account and join', fields: accountFields(form) })}`
  const invited = html`<p>You are invited as ${invitation.role}.</p>${body}`
  return pageOf(`Join ${company.name}`, invited, error?.message)
}

const failurePage = (error: AppError) =>
  pageOf('That did not work', html`<p><a href="/login">Sign in</a></p>`, error.message)

const pageReply = (page: string, status = 200): Reply => reply(status, new TextEncoder().encode(page), PAGE_HEADERS)

/** Answers with a page, or with one that says why there is none. */
function show(ctx: Context, page: () => string): Reply {
  try {
    identityOf(ctx)
    return pageReply(page())
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return pageReply(failurePage(error), error.status)
  }
}

/** Does what a form asks for, or shows the form again with what was wrong. */
async function orShow(work: () => Promise<Reply>, again: (error: AppError) => string): Promise<Reply> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    try {
      return pageReply(again(error), error.status)
    } catch {
      return pageReply(failurePage(error), error.status)
    }
  }
}

const seeOther = (location: string, cookie?: string): Reply =>
  reply(303, null, { location, ...(cookie !== undefined && { 'set-cookie': cookie }) })

/** A path of this server, of what came in a form: never another site's address. */
function pathOf(next: string): string {
  const url = URL.parse(next, 'http://localhost')
  return next.startsWith('/') && url?.host === 'localhost' ? `${url.pathname}${url.search}` : '/'
}
