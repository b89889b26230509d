import { html } from 'hono/html'
import type { Html } from '../../http/html-page.ts'
import type { Endpoint } from '../../http/route.ts'
import { prose } from './prose.ts'

/** Renders a list of endpoints. */
export const endpointList = (endpoints: readonly Endpoint[]): Html =>
  html`<ul class="endpoints">${endpoints.map(row)}</ul>\n`

const row = ({ id, method, path, summary, who }: Endpoint): Html =>
  html`<li><a href="/api/docs/endpoints/${id}"><span class="method">${method}</span> <code>${path}</code></a>
<p>${prose(summary)}. <span class="hint">Callers: ${who.map(({ name }) => name).join(', ')}.</span></p></li>
`
