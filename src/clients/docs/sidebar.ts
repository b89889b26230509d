import { html, raw } from 'hono/html'
import type { Html } from '../../http/html-page.ts'
import type { Endpoint } from '../../http/route.ts'
import { type Guide, SECTIONS } from './guides.ts'

/**
 * Renders the search form and the links to all pages.
 *
 * @param current the path of the page that is shown
 */
export function sidebar(
  guides: readonly Guide[],
  endpoints: readonly Endpoint[],
  current: string,
  searched?: string,
): Html {
  const link = (path: string, title: string) =>
    html`<li><a href="${path}"${current === path && raw(' aria-current="page"')}>${title}</a></li>\n`
  const sections = Object.entries(SECTIONS).map(([section, title]) => {
    const pages = guides.filter((guide) => guide.section === section)
    return pages.length > 0 && group(title, html`${pages.map((guide) => link(pathOf(guide), guide.title))}`)
  })
  const nouns = [...nounsOf(endpoints).keys()].map((noun) => link(`/api/docs/endpoints/${noun}`, titleOf(noun)))
  return html`<form action="/api/docs" role="search"><label for="q">Search the documentation</label><input id="q" name="q" type="search" maxlength="200" value="${searched}"></form>
${sections}${group('API endpoints', html`${nouns}`)}`
}

const group = (title: string, links: Html): Html => html`<p><strong>${title}</strong></p>\n<ul>${links}</ul>\n`

export const pathOf = ({ name }: Guide) => `/api/docs/${name}`

/** Returns the endpoints of each noun, which is the first part of an operation's id. */
export const nounsOf = (endpoints: readonly Endpoint[]): Map<string, Endpoint[]> =>
  new Map(
    [...Map.groupBy(endpoints, ({ id }) => id.split('.')[0]!)].sort(([a], [b]) => titleOf(a).localeCompare(titleOf(b))),
  )

/** Converts `heartbeatRuns` to `Heartbeat runs`. */
export function titleOf(noun: string): string {
  const words = noun.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}
