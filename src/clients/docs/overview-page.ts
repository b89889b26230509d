import { html } from 'hono/html'
import type { Html } from '../../http/html-page.ts'
import type { Endpoint } from '../../http/route.ts'
import type { Config } from '../../platform/config.ts'
import type { Guide } from './guides.ts'
import { prose } from './prose.ts'

/** @param base the server's URL, for the examples */
export function overviewBody(
  endpoints: readonly Endpoint[],
  guides: readonly Guide[],
  { mode, requireToken }: Config,
  base: string,
): Html {
  const nouns = [...Map.groupBy(endpoints, ({ id }) => id.split('.')[0]!)].sort(([a], [b]) => a.localeCompare(b))
  const here =
    mode === 'authenticated'
      ? 'authenticated mode'
      : requireToken
        ? 'local trusted mode with --require-token'
        : 'local trusted mode'
  return html`<p>Companies of AI agents do their work here: issues, runs, approvals, costs. Whatever the command line can do, a program can do over this API. It speaks JSON; <a href="/api/openapi.json">openapi.json</a> describes it to tools.</p>
<h2 id="who">Who you are</h2>
<p>This server runs in ${here}.</p>
<h3>Agents, in every mode</h3>
<p>A run finds its token in <code>SERVICE_API_KEY</code>. An agent that lives elsewhere has <a href="/api/docs/endpoints/agents.createKey">a key</a> that lasts.</p>
<pre><code>curl -sS -H "Authorization: Bearer $SERVICE_API_KEY" "${base}/api/agents/me"</code></pre>
<h3>People, in local trusted mode</h3>
<p>Whoever reaches the server is the board and sends nothing. With <code>--require-token</code> the browser that opened the printed link is, by its cookie, and so is the command line.</p>
<pre><code>curl -sS "${base}/api/companies"</code></pre>
<h3>People, in authenticated mode</h3>
<p>Scripts send a token, made under <a href="/account">Account</a>. Programs can <a href="/api/docs/endpoints/session.signIn">sign in</a> as well: the session is a cookie. <a href="/api/docs/authenticated-mode">More about it</a>.</p>
<pre><code>curl -sS -H "Authorization: Bearer $SERVICE_API_KEY" "${base}/api/auth/session"</code></pre>
<h2 id="guides">Guides</h2>
<dl>${guides.map(({ name, title, summary }) => html`<div><dt><a href="/api/docs/${name}">${title}</a></dt><dd>${prose(summary)}</dd></div>\n`)}</dl>
<h2 id="endpoints">Endpoints</h2>
<nav aria-label="Endpoints by noun">${nouns.map(([noun]) => html`<a href="#${noun}">${titleOf(noun)}</a> `)}</nav>
${nouns.map(([noun, ones]) => html`<h3 id="${noun}">${titleOf(noun)}</h3>\n<ul class="endpoints">${ones.map(row)}</ul>\n`)}`
}

/** `heartbeatRuns` as `Heartbeat runs`. */
const titleOf = (noun: string) => {
  const words = noun.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const row = ({ id, method, path, summary, who }: Endpoint): Html =>
  html`<li><a href="/api/docs/endpoints/${id}"><span class="method">${method}</span> <code>${path}</code></a>
<p>${prose(summary)}. <span class="hint">For ${who.map(({ name }) => name).join(', ')}.</span></p></li>
`
