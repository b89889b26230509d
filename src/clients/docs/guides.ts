import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { raw } from 'hono/html'
import type { Html } from '../../http/html-page.ts'
import { notFound } from '../../platform/errors.ts'
import { packageRoot } from '../../platform/package-root.ts'

/** The folders of `docs/` in the order of the sidebar, with their titles. */
export const SECTIONS = {
  'getting-started': 'Getting started',
  concepts: 'Concepts',
  guides: 'Guides',
  reference: 'Reference',
  operations: 'Operations',
  internals: 'Internals',
  decisions: 'Design decisions',
} as const

/** A page of `docs/`. */
export interface Guide {
  /** The name of its file without `.md`. It is unique across all folders. */
  name: string
  section: keyof typeof SECTIONS
  title: string
  /** Its first sentence, in Markdown. */
  summary: string
  /** Its text after the title. */
  markdown: string
}

const folder = () => path.join(packageRoot(), 'docs')

/** Returns all pages: by section, and within a section in the order of the index, `docs/README.md`. */
export async function listGuides(): Promise<Guide[]> {
  const index = await readFile(path.join(folder(), 'README.md'), 'utf8')
  const place = ({ section, name }: Guide) => index.indexOf(`](${section}/${name}.md)`)
  const sections = Object.keys(SECTIONS) as Guide['section'][]
  const pages = await Promise.all(sections.map(listSection))
  return pages.flatMap((guides) => guides.sort((a, b) => place(a) - place(b)))
}

async function listSection(section: Guide['section']): Promise<Guide[]> {
  const files = (await readdir(path.join(folder(), section))).filter((file) => file.endsWith('.md'))
  return Promise.all(files.map((file) => readGuide(section, file)))
}

/**
 * Returns the page with a name.
 *
 * @throws AppError not_found
 */
export async function getGuide(name: string): Promise<Guide> {
  const guide = (await listGuides()).find((one) => one.name === name)
  if (!guide) throw notFound('page of the documentation', name)
  return guide
}

async function readGuide(section: Guide['section'], file: string): Promise<Guide> {
  const name = file.slice(0, -'.md'.length)
  const text = await readFile(path.join(folder(), section, file), 'utf8')
  const [, title = name, markdown = text] = /^# (.*)\n([\s\S]*)$/.exec(text) ?? []
  const [sentence = ''] = /^.*?[.:](?=\s)/s.exec(markdown.trimStart()) ?? []
  const summary = sentence.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1').replaceAll('*', '')
  return { name, section, title, summary: summary.replace(/:$/, '.'), markdown }
}

/** Renders a guide as HTML. Links to other guides lead to their pages. */
export async function showGuide({ markdown }: Guide): Promise<Html> {
  // Loaded on demand, which keeps the start of the server fast.
  const { marked } = await import('marked')
  const content = await marked.parse(markdown)
  return raw(
    content
      // Files outside of docs/ are not served.
      .replaceAll(/<a href="(?:\.\.\/){2}[^"]*">(.*?)<\/a>/g, '$1')
      .replaceAll(/<a href="(?!https?:)(?:[\w./-]*\/)?([\w-]+)\.md(?=["#])/g, '<a href="/api/docs/$1')
      .replaceAll(/<h([23])>(.*?)<\/h\1>/g, (_, rank, title) => `<h${rank} id="${slugOf(title)}">${title}</h${rank}>`)
      .replaceAll('<table>', '<div class="scroll"><table>')
      .replaceAll('</table>', '</table></div>'),
  )
}

/** Returns the id of a heading, by the same rules as GitHub. */
const slugOf = (title: string) =>
  title
    .replaceAll(/<[^>]+>|&\w+;|[^\w\s-]/g, '')
    .trim()
    .toLowerCase()
    .replaceAll(/\s+/g, '-')
