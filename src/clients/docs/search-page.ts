import { html } from 'hono/html'
import type { Html } from '../../http/html-page.ts'
import type { Endpoint } from '../../http/route.ts'
import type { Guide } from './guides.ts'
import { endpointList } from './noun-page.ts'
import { prose } from './prose.ts'
import { pathOf } from './sidebar.ts'

/** The maximum number of endpoints in a search result. */
const MOST = 50

/** Renders the pages and endpoints that contain all words. Pages with the words in their title come first. */
export function searchBody(guides: readonly Guide[], endpoints: readonly Endpoint[], searched: string): Html {
  const words = searched.toLowerCase().split(/\s+/).filter(Boolean)
  const hasAll = (...texts: string[]) => {
    const text = texts.join('\n').toLowerCase()
    return words.every((word) => text.includes(word))
  }
  const pages = guides
    .filter(({ title, markdown }) => hasAll(title, markdown))
    .sort((a, b) => Number(hasAll(b.title)) - Number(hasAll(a.title)))
  const operations = endpoints.filter(({ id, method, path, summary, description = '' }) =>
    hasAll(id, method, path, summary, description),
  )
  if (pages.length + operations.length === 0) {
    return html`<p role="status">No page and no endpoint contains all of these words: ${words.join(', ')}. Try fewer words.</p>`
  }
  return html`${
    pages.length > 0 &&
    html`<h2>Pages</h2>
<dl>${pages.map((guide) => html`<div><dt><a href="${pathOf(guide)}">${guide.title}</a></dt><dd>${prose(excerptOf(guide, words))}</dd></div>\n`)}</dl>`
  }${
    operations.length > 0 &&
    html`<h2>Endpoints</h2>\n${endpointList(operations.slice(0, MOST))}${
      operations.length > MOST && html`<p>${operations.length - MOST} more endpoints match. Add a word.</p>`
    }`
  }`
}

/** Returns the first line that contains a searched word, else the summary. */
function excerptOf({ summary, markdown }: Guide, words: readonly string[]): string {
  const lines = markdown.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('```'))
  const line = lines.find((one) => words.some((word) => one.toLowerCase().includes(word)))
  const plain = (line ?? summary).replaceAll(/\[([^\]]+)\]\([^)]*\)|\*\*|^[#>|\s-]+/g, '$1')
  return plain.length > 200 ? `${plain.slice(0, 200)}…` : plain
}
