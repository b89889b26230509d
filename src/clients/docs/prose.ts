import { html } from 'hono/html'
import type { Html } from '../../http/html-page.ts'
import type { Key } from '../guide/keys.ts'

/** Renders a text of an endpoint or schema. Text between backquotes becomes code. */
export const prose = (text: string): Html =>
  html`${text.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : part))}`

/**
 * Renders fields as a list, which also fits narrow screens: name, type, description.
 *
 * @param direction whether the fields are those of a request, which may be required, or of a response
 */
export const fieldList = (fields: readonly Key[], direction: 'input' | 'output'): Html =>
  html`<dl>${fields.map(({ name, type, required, fallback, description }) => {
    const isMarked = direction === 'input' && required
    return html`<div><dt><code>${name}</code>${isMarked && html` <strong>required</strong>`}</dt>
<dd><p class="type">${type}${fallback !== undefined && html`, default ${fallback}`}</p>${description !== '' && html`<p>${prose(description)}</p>`}</dd></div>
`
  })}</dl>`
