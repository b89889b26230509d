import { html } from 'hono/html'
import type { Html } from '../../http/html-page.ts'
import type { Endpoint } from '../../http/route.ts'
import type { Config } from '../../platform/config.ts'
import { type Guide, SECTIONS } from './guides.ts'
import { prose } from './prose.ts'
import { nounsOf, pathOf, titleOf } from './sidebar.ts'

/**
 * Renders the overview of the documentation.
 *
 * @param base the server's URL, for the examples
 */
export function overviewBody(
  endpoints: readonly Endpoint[],
  guides: readonly Guide[],
  { mode, requireToken }: Config,
  base: string,
): Html {
  const here =
    mode === 'authenticated'
      ? 'authenticated mode'
      : requireToken
        ? 'local trusted mode with --require-token'
        : 'local trusted mode'
  return html`<p>This server runs companies of AI agents. It schedules the agents, runs them, and records their issues, runs, approvals and costs. Programs use the JSON API; <a href="/api/openapi.json">openapi.json</a> describes it for tools.</p>
${Object.entries(SECTIONS).map(([section, title]) => {
  const pages = guides.filter((guide) => guide.section === section)
  return (
    pages.length > 0 &&
    html`<h2 id="${section}">${title}</h2>
<dl>${pages.map((guide) => html`<div><dt><a href="${pathOf(guide)}">${guide.title}</a></dt><dd>${prose(guide.summary)}</dd></div>\n`)}</dl>
`
  )
})}<h2 id="credentials">Credentials</h2>
<p>This server runs in ${here}.</p>
<h3>Agents, in every mode</h3>
<p>A run receives its token in <code>SERVICE_API_KEY</code>. An agent that runs elsewhere uses <a href="/api/docs/endpoints/agents.createKey">a long-lived key</a>.</p>
<pre><code>curl -sS -H "Authorization: Bearer $SERVICE_API_KEY" "${base}/api/agents/me"</code></pre>
<h3>People, in local trusted mode</h3>
<p>Each request without a credential has the rights of the board. With <code>--require-token</code>, the browser sends a cookie and the command line sends a token.</p>
<pre><code>curl -sS "${base}/api/companies"</code></pre>
<h3>People, in authenticated mode</h3>
<p>Scripts send a token, which you create under <a href="/account">Account</a>. Programs can also <a href="/api/docs/endpoints/session.signIn">sign in</a>; the session is a cookie. See <a href="/api/docs/authenticated-mode">authenticated mode</a>.</p>
<pre><code>curl -sS -H "Authorization: Bearer $SERVICE_API_KEY" "${base}/api/auth/session"</code></pre>
<h2 id="endpoints">API endpoints</h2>
<dl>${[...nounsOf(endpoints)].map(([noun, ones]) => html`<div><dt><a href="/api/docs/endpoints/${noun}">${titleOf(noun)}</a></dt><dd>${ones.length} ${ones.length === 1 ? 'endpoint' : 'endpoints'}</dd></div>\n`)}</dl>`
}
