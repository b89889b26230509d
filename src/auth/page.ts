import { createHash } from 'node:crypto'
import type { AppError, FieldError } from '../errors.ts'

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
  /** At least so many characters. */
  least?: number
  /** Shown and sent, and not to be changed. */
  readonly?: boolean
}

interface Form {
  action: string
  submit: string
  fields: readonly FormField[]
  /** What a submit of the form failed by. */
  error?: AppError | undefined
  /** Whether it does something beside what the page is for. */
  isMinor?: boolean
}

/**
 * A form that works without a script. What is wrong with a field stands beside
 * it, and the focus is on the first of them; where no field is at fault, on the
 * last one, which is the password's.
 */
export function formOf({ action, submit, fields, error, isMinor = false }: Form): Html {
  const faults = faultsOf(error)
  const shown = fields.filter(({ type, readonly }) => type !== 'hidden' && !readonly)
  const focused = error && (shown.find(({ name }) => faults.has(name)) ?? shown.at(-1))
  return html`<form method="post" action="${action}">
${fields.map((field) => fieldOf(field, faults.get(field.name), field === focused))}<button${isMinor && html` class="minor"`}>${submit}</button>
</form>`
}

/** What is wrong, by the field's name. */
function faultsOf(error: AppError | undefined): Map<string, string> {
  const { fields = [] } = (error?.details ?? {}) as { fields?: FieldError[] }
  return new Map(fields.map(({ path, message }) => [path, message]))
}

function fieldOf(field: FormField, fault: string | undefined, isFocused: boolean): Html {
  const { name, label, type = 'text', value = '', autocomplete = 'off', hint, least, readonly = false } = field
  if (type === 'hidden') return html`<input type="hidden" name="${name}" value="${value}">`
  const notes = [hint !== undefined && `${name}-hint`, fault !== undefined && `${name}-error`].filter(
    (id) => id !== false,
  )
  return html`<label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" value="${value}" required autocomplete="${autocomplete}"${
    least !== undefined && html` minlength="${String(least)}"`
  }${readonly && html` readonly`}${notes.length > 0 && html` aria-describedby="${notes.join(' ')}"`}${
    fault !== undefined && html` aria-invalid="true"`
  }${isFocused && html` autofocus`}>
${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}${
  fault !== undefined && html`<p class="error" id="${name}-error">${label} ${fault}.</p>`
}`
}

interface Page {
  title: string
  body: Html
  /** What went wrong stands before all else, and is announced. */
  error?: AppError | undefined
  /** What went well, announced too. */
  done?: string | undefined
  /** Links to the other pages, for who is signed in. */
  links?: Html
}

export const pageOf = ({ title, body, error, done, links }: Page): string =>
  `<!doctype html>${
    html`<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${error !== undefined && 'Error: '}${title} – service</title>${new Html(`<style>${STYLE}</style>`)}</head>
<body>${links && html`<header><nav aria-label="Pages">${links}</nav></header>`}<main><h1>${title}</h1>
${error && html`<p role="alert">${faultsOf(error).size > 0 ? 'Something is missing or wrong below.' : error.message}</p>`}${
  done !== undefined && html`<p role="status">${done}</p>`
}${body}</main></body></html>`.text
  }`

const STYLE = `
:root{color-scheme:light dark;--ink:light-dark(#1b1c1f,#e6e6ea);--muted:light-dark(#595c63,#a6a9b1);--paper:light-dark(#fff,#17181b);--raised:light-dark(#f3f4f6,#222429);--line:light-dark(#767a83,#878b94);--accent:light-dark(#0b57d0,#a8c7fa);--on-accent:light-dark(#fff,#062e6f);--bad:light-dark(#b3261e,#f2b8b5);--good:light-dark(#146c2e,#9fd3a8)}
body{font:1rem/1.5 system-ui,sans-serif;margin:0;color:var(--ink);background:var(--paper);overflow-wrap:break-word}
header,main{max-width:32rem;margin:0 auto;padding:0 1rem}
header{padding-top:1rem}
nav{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem}
main{padding-top:min(8vh,4rem);padding-bottom:3rem}
header+main{padding-top:1rem}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 1rem}
h2{font-size:1.125rem;margin:2.5rem 0 .5rem}
a{color:var(--accent)}
label{display:block;margin-top:1rem;font-weight:600}
input{font:inherit;color:inherit;background:var(--paper);box-sizing:border-box;width:100%;margin-top:.25rem;padding:.5rem .625rem;border:1px solid var(--line);border-radius:.375rem}
input[readonly]{background:var(--raised)}
input[aria-invalid]{border-color:var(--bad)}
button{font:inherit;font-weight:600;margin-top:1.25rem;padding:.5rem 1rem;min-height:2.75rem;color:var(--on-accent);background:var(--accent);border:1px solid var(--accent);border-radius:.375rem;cursor:pointer}
button.minor{color:var(--ink);background:none;border-color:var(--line)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
[role=alert],[role=status]{margin:0 0 1rem;padding:.5rem .75rem;background:var(--raised);border-left:4px solid var(--bad)}
[role=status]{border-color:var(--good)}
.hint,.error{margin:.25rem 0 0;font-size:.875rem;color:var(--muted)}
.error{color:var(--bad)}
ul{list-style:none;margin:0;padding:0}
li{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:0 1rem;padding:.5rem 0;border-top:1px solid light-dark(#dcdee3,#3a3d44)}
li button{margin:0}
pre{margin:.75rem 0;padding:.75rem;background:var(--raised);border-radius:.375rem;white-space:pre-wrap;overflow-wrap:anywhere;font-size:.875rem}
code{font-family:ui-monospace,monospace}`

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
