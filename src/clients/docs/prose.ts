import { html } from 'hono/html'
import type { Html } from '../../http/html-page.ts'
import type { Key } from '../guide/keys.ts'

/** A text of the endpoints and schemas, whose `code` is shown as such. */
export const prose = (text: string): Html =>
  html`${text.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : part))}`

/** Fields as a list that needs no width: the name and what it takes, then what it means. */
export const fieldList = (fields: readonly Key[], shows: 'what goes in' | 'what comes out'): Html =>
  html`<dl>${fields.map(({ name, type, required, fallback, description }) => {
    const isSaid = shows === 'what goes in' && required
    return html`<div><dt><code>${name}</code>${isSaid && html` <strong>required</strong>`}</dt>
<dd><p class="type">${type}${fallback !== undefined && html`, default ${fallback}`}</p>${description !== '' && html`<p>${prose(description)}</p>`}</dd></div>
`
  })}</dl>`
