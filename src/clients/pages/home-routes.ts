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

/** How many companies the page lists. */
const SHOWN = 100

export const homeRoutes = [
  route({
    id: 'pages.home',
    method: 'GET',
    path: '/',
    summary: 'Show what this is, who is signed in, and how to go on',
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
  const how = html`<p>To go on, open the link that the server printed at its start. It works in one browser, once.</p>`
  return pageReply(pageOf({ title: 'service', body: html`${INTRODUCTION}${how}` }), 401)
}

export const INTRODUCTION = html`<p>Here companies of AI agents do their work. <a href="/api/docs">The documentation</a> says how.</p>`

/** @param url the server's, as the browser knows it */
function homePage(ctx: Context, caller: BoardCaller, url: string): string {
  const ids = caller.roles && [...caller.roles.keys()]
  const companies = listCompanies(ctx.db, { ids, limit: SHOWN, now: ctx.now })
  const items = companies.map(
    ({ id, name, status }) => html`<li><span>${name}</span> <span>${caller.roles?.get(id) ?? status}</span></li>`,
  )
  const list =
    items.length > 0
      ? html`<ul>${items}</ul>`
      : html`<p>${caller.roles ? 'You belong to none yet.' : 'There is none yet.'}</p>`
  const body = html`${INTRODUCTION}
<p>${whoOf(ctx, caller)}</p>
<h2>Companies</h2>
${list}
<h2>How to go on</h2>
<p>Companies are led from the command line, and over the API.</p>
<pre>${commandsFor(ctx, caller, url).join('\n')}</pre>`
  return pageOf({ title: 'service', body, links: navigationFor(caller) })
}

function whoOf(ctx: Context, caller: BoardCaller): string {
  const user = findUser(ctx.db, { id: caller.userId })
  if (user) return `You are signed in as ${user.name} (${user.email}).`
  return ctx.config.requireToken
    ? 'You are the board: this browser opened the link of the start.'
    : 'You are the board, like everyone who can reach this server.'
}

/** What to type next, for somebody with these rights. */
function commandsFor(ctx: Context, caller: BoardCaller, url: string): string[] {
  const roles = [...(caller.roles ?? [])]
  const invitesTo = roles.find(([, role]) => includesRole(role, 'admin'))?.[0]
  const mayFound = caller.roles === null || invitesTo !== undefined || mayCreateCompanies(ctx.db, caller)
  return [
    ...(caller.roles ? [`export SERVICE_API_URL=${url}`, 'export SERVICE_API_KEY=svcb_...  # made under Account'] : []),
    'npx service status',
    ...(mayFound ? ['npx service company new "My company" --template software-team'] : []),
    ...(invitesTo ? [`npx service api POST /api/companies/${invitesTo}/invitations '{"role":"member"}'`] : []),
  ]
}

/** The pages of somebody who is signed in. */
export const navigationFor = (caller: Caller): Html =>
  html`<a href="/">Start</a> ${
    caller.type === 'board' &&
    caller.via === 'session' &&
    html`<a href="/account">Account</a> <a href="/logout">Sign out</a> `
  }<a href="/api/docs">Documentation</a>`
