import { createHash } from 'node:crypto'
import { html, raw } from 'hono/html'
import type { AppError, FieldError } from '../platform/errors.ts'
import { headersOf } from './response.ts'
import { type Reply, reply } from './route.ts'

/** HTML in which all inserted text is escaped. */
export type Html = ReturnType<typeof html>

interface Page {
  title: string
  body: Html
  /** Whether the page uses the wide layout, which is for reading. Forms use the narrow one. */
  isWide?: boolean
  /** The error message. It is displayed first, and screen readers announce it. */
  error?: AppError | undefined
  /** The success message. Screen readers announce it. */
  done?: string | undefined
  /** Links to the other pages, for a person who is signed in. */
  links?: Html
  /** Links beside a wide page. On a narrow screen they are displayed below it. */
  sidebar?: Html
}

/** Renders a page as a whole document. */
export const pageOf = ({ title, body, isWide = false, error, done, links, sidebar }: Page): string =>
  String(html`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${error !== undefined && 'Error: '}${title} – service</title>${raw(`<style>${STYLE}</style>`)}</head>
<body${isWide && raw(` class="wide${sidebar ? ' with-sidebar' : ''}"`)}>${links && html`<header><nav aria-label="Pages">${links}</nav></header>`}<main><h1>${title}</h1>
${error && html`<p role="alert">${fieldErrorsOf(error).size > 0 ? 'Some fields are missing or invalid.' : error.message}</p>`}${
  done !== undefined && html`<p role="status">${done}</p>`
}${body}</main>${sidebar && html`<nav id="contents" class="sidebar" aria-label="Contents">${sidebar}</nav>`}</body></html>`)

/** Returns the message of each invalid field, by its name. */
export function fieldErrorsOf(error: AppError | undefined): Map<string, string> {
  const { fields = [] } = (error?.details ?? {}) as { fields?: FieldError[] }
  return new Map(fields.map(({ path, message }) => [path, message]))
}

const STYLE = `
:root{color-scheme:light dark;--ink:light-dark(#1b1c1f,#e6e6ea);--muted:light-dark(#595c63,#a6a9b1);--paper:light-dark(#fff,#17181b);--raised:light-dark(#f3f4f6,#222429);--rule:light-dark(#dcdee3,#3a3d44);--line:light-dark(#767a83,#878b94);--accent:light-dark(#0b57d0,#a8c7fa);--on-accent:light-dark(#fff,#062e6f);--bad:light-dark(#b3261e,#f2b8b5);--good:light-dark(#146c2e,#9fd3a8)}
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
pre{margin:.75rem 0;padding:.75rem;background:var(--raised);border-radius:.375rem;white-space:pre-wrap;overflow-wrap:anywhere;font-size:.875rem}
code{font-family:ui-monospace,monospace;font-size:.9em;overflow-wrap:anywhere}
pre code{font-size:1em}
body:not(.wide) ul,.endpoints{list-style:none;margin:0;padding:0}
body:not(.wide) li{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:0 1rem;padding:.5rem 0;border-top:1px solid var(--rule)}
li button{margin:0}
.wide header,.wide main{max-width:60rem}
.wide h1{font-size:1.75rem}
.wide h2{font-size:1.375rem;padding-top:1rem;border-top:1px solid var(--rule)}
.wide pre{white-space:pre;overflow-x:auto;overflow-wrap:normal}
h3{font-size:1.0625rem;margin:1.75rem 0 .5rem}
h4{font-size:1rem;margin:1.25rem 0 .25rem}
p{max-width:44rem}
.route{max-width:none;padding:.5rem .75rem;background:var(--raised);border-radius:.375rem}
.method{display:inline-block;min-width:3.75rem;font:700 .8125rem ui-monospace,monospace;color:var(--ink)}
dd p{margin:0}
.type{color:var(--muted);font-size:.875rem}
.endpoints li{padding:.5rem 0;border-top:1px solid var(--rule)}
.endpoints p{margin:.125rem 0 0}
.endpoints a{text-decoration:none}
.endpoints a:hover code{text-decoration:underline}
dl{margin:0}
dl>div{padding:.5rem 0;border-top:1px solid var(--rule)}
dt strong{font-size:.8125rem;color:var(--bad)}
dd{margin:.125rem 0 0}
.scroll{overflow-x:auto}
table{border-collapse:collapse}
td,th{padding:.4rem .75rem .4rem 0;border-bottom:1px solid var(--rule);text-align:left;vertical-align:top}
.sidebar{display:block;padding:1rem;border-top:1px solid var(--rule);font-size:.9375rem}
.sidebar ul{list-style:none;margin:0;padding:0}
.sidebar p{margin:1.25rem 0 .25rem}
.sidebar a{display:block;padding:.125rem 0;text-decoration:none}
.sidebar a:hover,.sidebar [aria-current]{text-decoration:underline}
.sidebar [aria-current]{font-weight:600;color:var(--ink)}
.sidebar label{margin-top:0}
@media (min-width:64rem){.with-sidebar{display:grid;grid-template-columns:16rem minmax(0,60rem);justify-content:center;column-gap:2rem}.with-sidebar header{grid-column:1/3;width:100%;max-width:none;box-sizing:border-box}.with-sidebar main{grid-area:2/2;margin:0;width:100%;box-sizing:border-box}.with-sidebar .sidebar{grid-area:2/1;border-top:0}.with-sidebar a[href="#contents"]{display:none}}
@media (min-width:48rem){dl>div{display:grid;grid-template-columns:minmax(0,2fr) minmax(0,3fr);gap:1.5rem;align-items:baseline}dd{margin:0}.endpoints li{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:1.5rem;align-items:baseline}.endpoints p{margin:0}.endpoints a{display:grid;grid-template-columns:3.75rem minmax(0,1fr);align-items:baseline}}`

/**
 * These pages run no scripts and send their forms to this server only. With the
 * usual `no-referrer`, a browser sends a form with `Origin: null`, which the
 * gate refuses. With `same-origin`, the address of the page is not sent to
 * other sites.
 */
const PAGE_HEADERS = {
  'referrer-policy': 'same-origin',
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
}

/** Returns a page that shows an error. `page` is the form again, with the error. */
export const errorPage = (error: AppError, page = failurePage(error)): Reply =>
  pageReply(page, error.status, headersOf(error))

const failurePage = (error: AppError) =>
  pageOf({ title: 'The request failed', body: html`<p><a href="/">Go to the start page</a></p>`, error })

/** Returns the reply for a page. */
export const pageReply = (page: string, status = 200, headers: Record<string, string> = {}): Reply =>
  reply(status, new TextEncoder().encode(page), { ...PAGE_HEADERS, ...headers })
