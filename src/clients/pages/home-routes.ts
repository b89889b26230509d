import { html } from 'hono/html'
import { mayCreateCompanies } from '../../access/board/membership-queries.ts'
import { findUser } from '../../access/board/user-queries.ts'
import type { BoardCaller, Caller } from '../../access/caller/caller.ts'
import { includesRole } from '../../access/caller/role.ts'
import { anyone } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import { type Html, pageOf, pageReply } from '../../http/html-page.ts'
import { linkTo } from '../../http/proxy.ts'
import type { Reply } from '../../http/route.ts'
import { listCompanies } from '../../organization/company/queries.ts'
import type { Context } from '../../platform/context.ts'
import { seeOther } from './page-response.ts'

/** The number of companies that the page lists. */
const SHOWN = 100

/** The start page of a server without the board's web page. */
export const homeRoutes = [
  route({
    id: 'pages.home',
    method: 'GET',
    path: '/',
    summary: 'Show the start page: the signed-in person, companies and next steps',
    who: [anyone],
    responses: { 200: 'text/html', 303: null },
    run: (ctx, { caller, header }) => {
      if (caller.type === 'board') return pageReply(homePage(ctx, caller, linkTo(ctx.config, header, '')))
      return caller.type === 'anonymous'
        ? refuseVisitor(ctx)
        : pageReply(pageOf({ title: 'service', body: INTRODUCTION }))
    },
  }),
]

function refuseVisitor(ctx: Context): Reply {
  if (ctx.config.mode === 'authenticated') return seeOther('/login')
  const how = html`<p>To continue, open the link that the server printed at its start. It works once, in one browser.</p>`
  return pageReply(pageOf({ title: 'service', body: html`${INTRODUCTION}${how}` }), 401)
}

export const INTRODUCTION = html`<p>This server runs companies of AI agents. See the <a href="/api/docs">documentation</a>.</p>`

/**
 * Renders the start page of a signed-in person.
 *
 * @param url the URL of the server in the browser
 */
function homePage(ctx: Context, caller: BoardCaller, url: string): string {
  const ids = caller.roles && [...caller.roles.keys()]
  const companies = listCompanies(ctx.db, { ids, limit: SHOWN, now: ctx.now })
  const items = companies.map(
    ({ id, name, status }) => html`<li><span>${name}</span> <span>${caller.roles?.get(id) ?? status}</span></li>`,
  )
  const list =
    items.length > 0
      ? html`<ul>${items}</ul>`
      : html`<p>${caller.roles ? 'You are not a member of a company yet.' : 'There is no company yet.'}</p>`
  const body = html`${INTRODUCTION}
<p>${whoOf(ctx, caller)}</p>
<h2>Companies</h2>
${list}
<h2>Next steps</h2>
<p>Manage companies with the command line or the API.</p>
<pre>${commandsFor(ctx, caller, url).join('\n')}</pre>`
  return pageOf({ title: 'service', body, links: navigationFor(caller) })
}

function whoOf(ctx: Context, caller: BoardCaller): string {
  const user = findUser(ctx.db, { id: caller.userId })
  if (user) return `You are signed in as ${user.name} (${user.email}).`
  return ctx.config.requireToken
    ? 'You have the rights of the board: this browser opened the link that the server printed.'
    : 'You have the rights of the board, like everyone who can reach this server.'
}

/** Returns the next commands for a person with these rights. */
function commandsFor(ctx: Context, caller: BoardCaller, url: string): string[] {
  const roles = [...(caller.roles ?? [])]
  const invitesTo = roles.find(([, role]) => includesRole(role, 'admin'))?.[0]
  const mayFound = caller.roles === null || invitesTo !== undefined || mayCreateCompanies(ctx.db, caller)
  return [
    ...(caller.roles
      ? [`export SERVICE_API_URL=${url}`, 'export SERVICE_API_KEY=svcb_...  # create it under Account']
      : []),
    'service status',
    ...(mayFound ? ['service company new "My company" --template software-team'] : []),
    ...(invitesTo ? [`service api POST /api/companies/${invitesTo}/invitations '{"role":"member"}'`] : []),
  ]
}

/** Renders the links to the pages that the caller can use. */
export const navigationFor = (caller: Caller): Html =>
  html`<a href="/">Start</a> ${
    caller.type === 'board' &&
    caller.via === 'session' &&
    html`<a href="/account">Account</a> <a href="/logout">Sign out</a> `
  }<a href="/api/docs">Documentation</a>`
