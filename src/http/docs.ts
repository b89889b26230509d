import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { notFound } from '../errors.ts'
import { packageRoot } from '../package-root.ts'
import { type Endpoint, reply, route } from './route.ts'
import { anyone } from './who.ts'

/** The documentation for users as web pages: the endpoints in a table, and the pages of `docs/`. */
export function docsRoutes(endpoints: () => readonly Endpoint[]): Endpoint[] {
  return [
    route({
      id: 'docs.get',
      method: 'GET',
      path: '/api/docs',
      summary: 'Read what this API has, as a page',
      who: [anyone],
      answers: { 200: null },
      run: async () => page('service API', `${await pageIndex()}${endpointTable(endpoints())}`),
    }),
    route({
      id: 'docs.page',
      method: 'GET',
      path: '/api/docs/:page',
      summary: 'Read a page of the documentation',
      who: [anyone],
      answers: { 200: null },
      run: async (_, { params }) => {
        const known = await listPages()
        if (!known.includes(params.page)) throw notFound('page of the documentation', params.page)
        const { title, markdown } = await readPage(params.page)
        // Only here: a server that nobody reads the documentation of starts without it.
        const { marked } = await import('marked')
        const content = (await marked.parse(markdown)).replaceAll(/(<a href="[\w-]+)\.md(?=["#])/g, '$1')
        return page(title, `<p><a href="/api/docs">API</a></p>${content}`)
      },
    }),
  ]
}

const folder = () => path.join(packageRoot(), 'docs')

/** The names of the pages, without `.md`. */
async function listPages(): Promise<string[]> {
  const files = await readdir(folder())
  return files
    .filter((file) => file.endsWith('.md'))
    .map((file) => file.slice(0, -'.md'.length))
    .sort()
}

/** @returns its Markdown, and the heading that it begins with */
async function readPage(name: string): Promise<{ title: string; markdown: string }> {
  const markdown = await readFile(path.join(folder(), `${name}.md`), 'utf8')
  return { title: /^# (.*)$/m.exec(markdown)?.[1] ?? name, markdown }
}

async function pageIndex(): Promise<string> {
  const pages = await Promise.all((await listPages()).map(async (name) => ({ name, ...(await readPage(name)) })))
  const links = pages.map(({ name, title }) => `<li><a href="/api/docs/${name}">${html(title)}</a></li>`)
  return `<h1>service API</h1>
<p>Bodies and answers are JSON. Agents send <code>Authorization: Bearer &lt;key&gt;</code>. The schemas are in <a href="/api/openapi.json">/api/openapi.json</a>.</p>
<ul>${links.join('\n')}</ul>`
}

function endpointTable(endpoints: readonly Endpoint[]): string {
  const rows = endpoints.map(
    ({ method, path, summary, who }) =>
      `<tr><td>${method}</td><td><code>${html(path)}</code></td><td>${html(summary)}</td><td>${html(who.map((one) => one.name).join(', '))}</td></tr>`,
  )
  return `<table><thead><tr><th>Method</th><th>Path</th><th>What it does</th><th>For</th></tr></thead><tbody>${rows.join('\n')}</tbody></table>`
}

const html = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const page = (title: string, content: string) =>
  reply(
    200,
    new TextEncoder().encode(`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${html(title)}</title>
<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;overflow-wrap:break-word}table{border-collapse:collapse;display:block;overflow-x:auto}td,th{border-bottom:1px solid color-mix(in srgb,currentColor 20%,transparent);padding:.3rem .6rem;text-align:left;vertical-align:top}pre{overflow-x:auto}</style>
${content}</html>
`),
    {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    },
  )
