import { createHash } from 'node:crypto'

/** Text as HTML shows it, also inside an attribute. */
const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

/** HTML that is escaped already. */
class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type { Html }

/** HTML with values in it: texts are escaped, HTML is not, false and undefined are nothing. */
export function html(parts: TemplateStringsArray, ...values: (string | Html | readonly Html[] | false | undefined)[]) {
  const shown = values.map((value) => {
    if (value === false || value === undefined) return ''
    if (typeof value === 'string') return escapeHtml(value)
    return Array.isArray(value) ? value.map((one) => one.text).join('') : (value as Html).text
  })
  return new Html(parts.map((part, i) => part + (shown[i] ?? '')).join(''))
}

export interface FormField {
  name: string
  label: string
  type?: 'text' | 'email' | 'password' | 'hidden'
  value?: string
  autocomplete?: string
  hint?: string
}

/** A form that works without a script. */
export const formOf = (options: { action: string; submit: string; fields: readonly FormField[] }): Html => html`
<form method="post" action="${options.action}">
${options.fields.map(fieldOf)}<button>${options.submit}</button>
</form>`

function fieldOf({ name, label, type = 'text', value = '', autocomplete, hint }: FormField): Html {
  if (type === 'hidden') return html`<input type="hidden" name="${name}" value="${value}">`
  const described = hint !== undefined && html` aria-describedby="${name}-hint"`
  return html`<label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" value="${value}" required autocomplete="${autocomplete ?? 'off'}"${described}>
${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}`
}

/** A whole page. What went wrong stands before all else, and is announced. */
export const pageOf = (title: string, body: Html, error?: string): string =>
  `<!doctype html>${
    html`<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${error !== undefined && 'Error: '}${title} – service</title>${new Html(`<style>${STYLE}</style>`)}</head>
<body><main><h1>${title}</h1>${error !== undefined && html`<p role="alert">${error}</p>`}${body}</main></body></html>`
      .text
  }`

const STYLE =
  ':root{color-scheme:light dark;--line:light-dark(#767676,#8c8c8c)}body{font:1rem/1.5 system-ui,sans-serif;margin:0}main{max-width:26rem;margin:10vh auto;padding:0 1rem}h1{font-size:1.5rem}label{display:block;margin-top:1rem;font-weight:600}input{font:inherit;box-sizing:border-box;width:100%;padding:.5rem;border:1px solid var(--line);border-radius:.3rem}button{font:inherit;font-weight:600;margin-top:1.25rem;padding:.5rem 1rem;border:1px solid var(--line);border-radius:.3rem;cursor:pointer}:focus-visible{outline:3px solid light-dark(#0b57d0,#a8c7fa);outline-offset:2px}[role=alert]{border-left:4px solid light-dark(#b3261e,#f2b8b5);padding:.5rem .75rem}.hint{margin:.25rem 0 0;font-size:.9rem}'

/**
 * Nothing runs on these pages, and they send their forms here only. Under the
 * usual `no-referrer` a browser sends a form with `Origin: null`, which the
 * gate refuses; what the page's own address holds goes to no other site.
 */
export const PAGE_HEADERS = {
  'referrer-policy': 'same-origin',
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
}
