import { html } from 'hono/html'
import * as v from 'valibot'
import { anyone } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import { type Html, pageOf, pageReply } from '../../http/html-page.ts'
import { linkTo } from '../../http/proxy.ts'
import type { Endpoint } from '../../http/route.ts'
import { notFound } from '../../platform/errors.ts'
import { endpointBody } from './endpoint-page.ts'
import { getGuide, listGuides, showGuide } from './guides.ts'
import { endpointList } from './noun-page.ts'
import { overviewBody } from './overview-page.ts'
import { searchBody } from './search-page.ts'
import { nounsOf, sidebar, titleOf } from './sidebar.ts'

/** Creates the endpoints of the documentation as web pages: the pages of `docs/`, the API endpoints, and a search. */
export function docsRoutes(endpoints: () => readonly Endpoint[]): Endpoint[] {
  const show = async (path: string, title: string, body: Html, searched?: string) =>
    pageReply(
      pageOf({
        title,
        body,
        links: LINKS,
        isWide: true,
        sidebar: sidebar(await listGuides(), endpoints(), path, searched),
      }),
    )
  return [
    route({
      id: 'docs.get',
      method: 'GET',
      path: '/api/docs',
      summary: 'Get the overview of the documentation as a page, or search it',
      who: [anyone],
      query: v.object({
        q: v.optional(
          v.pipe(
            v.string(),
            v.maxLength(200, 'must be at most 200 characters'),
            v.description('Words to search for in the pages and the endpoints.'),
          ),
        ),
      }),
      responses: { 200: 'text/html' },
      run: async (ctx, { header, query: { q } }) => {
        const guides = await listGuides()
        if (q?.trim()) return show('/api/docs', 'Search results', searchBody(guides, endpoints(), q), q)
        const body = overviewBody(endpoints(), guides, ctx.config, linkTo(ctx.config, header, ''))
        return show('/api/docs', 'service documentation', body)
      },
    }),
    route({
      id: 'docs.endpoint',
      method: 'GET',
      path: '/api/docs/endpoints/:id',
      summary: 'Read the documentation of an endpoint as a page, or the list of the endpoints of a noun',
      who: [anyone],
      responses: { 200: 'text/html' },
      run: (ctx, { params: { id }, header }) => {
        const ofNoun = nounsOf(endpoints()).get(id)
        if (ofNoun) return show(`/api/docs/endpoints/${id}`, titleOf(id), endpointList(ofNoun))
        const endpoint = endpoints().find((one) => one.id === id)
        if (!endpoint) throw notFound('endpoint', id)
        return show(
          `/api/docs/endpoints/${id.split('.')[0]}`,
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
        return show(`/api/docs/${guide.name}`, guide.title, await showGuide(guide))
      },
    }),
  ]
}

const LINKS = html`<a href="/">Board</a> <a href="/api/docs">Documentation</a> <a href="#contents">Contents</a>`
