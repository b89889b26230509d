import { html } from 'hono/html'
import { anyone } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import { type Html, pageOf, pageReply } from '../../http/html-page.ts'
import { linkTo } from '../../http/proxy.ts'
import type { Endpoint } from '../../http/route.ts'
import { notFound } from '../../platform/errors.ts'
import { endpointBody } from './endpoint-page.ts'
import { getGuide, listGuides, showGuide } from './guides.ts'
import { overviewBody } from './overview-page.ts'

/** The documentation for users as web pages: what there is, each endpoint, and the guides of `docs/`. */
export function docsRoutes(endpoints: () => readonly Endpoint[]): Endpoint[] {
  return [
    route({
      id: 'docs.get',
      method: 'GET',
      path: '/api/docs',
      summary: 'Read what this API has, as a page',
      who: [anyone],
      responses: { 200: 'text/html' },
      run: async (ctx, { header }) =>
        show('service API', overviewBody(endpoints(), await listGuides(), ctx.config, linkTo(ctx.config, header, ''))),
    }),
    route({
      id: 'docs.endpoint',
      method: 'GET',
      path: '/api/docs/endpoints/:id',
      summary: 'Read what an endpoint takes and answers, as a page',
      who: [anyone],
      responses: { 200: 'text/html' },
      run: (ctx, { params, header }) => {
        const endpoint = endpoints().find(({ id }) => id === params.id)
        if (!endpoint) throw notFound('endpoint', params.id)
        return show(
          endpoint.summary.replaceAll('`', ''),
          endpointBody(endpoint, ctx.config, linkTo(ctx.config, header, '')),
        )
      },
    }),
    route({
      id: 'docs.page',
      method: 'GET',
      path: '/api/docs/:page',
      summary: 'Read a page of the documentation',
      who: [anyone],
      responses: { 200: 'text/html' },
      run: async (_, { params }) => {
        const guide = await getGuide(params.page)
        return show(guide.title, await showGuide(guide))
      },
    }),
  ]
}

const show = (title: string, body: Html) => pageReply(pageOf({ title, body, links: LINKS, isWide: true }))

const LINKS = html`<a href="/">Start</a> <a href="/api/docs">API</a> <a href="/api/docs#guides">Guides</a> <a href="/api/docs#endpoints">Endpoints</a>`
