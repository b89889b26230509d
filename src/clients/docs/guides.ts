import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { raw } from 'hono/html'
import type { Html } from '../../http/html-page.ts'
import { notFound } from '../../platform/errors.ts'
import { packageRoot } from '../../platform/package-root.ts'

/** A page of `docs/`. */
export interface Guide {
  /** Its file's, without `.md`. */
  name: string
  title: string
  /** The sentence that it begins with, in Markdown. */
  summary: string
  /** What comes behind its title. */
  markdown: string
}

const folder = () => path.join(packageRoot(), 'docs')

async function listNames(): Promise<string[]> {
  const files = await readdir(folder())
  return files
    .filter((file) => file.endsWith('.md'))
    .map((file) => file.slice(0, -'.md'.length))
    .sort()
}

export const listGuides = async (): Promise<Guide[]> => Promise.all((await listNames()).map(readGuide))

export async function getGuide(name: string): Promise<Guide> {
  if (!(await listNames()).includes(name)) throw notFound('page of the documentation', name)
  return readGuide(name)
}

async function readGuide(name: string): Promise<Guide> {
  const text = await readFile(path.join(folder(), `${name}.md`), 'utf8')
  const [, title = name, markdown = text] = /^# (.*)\n([\s\S]*)$/.exec(text) ?? []
  const [sentence = ''] = /^.*?[.:](?=\s)/.exec(markdown.trimStart()) ?? []
  return { name, title, summary: sentence.replaceAll('*', '').replace(/:$/, '.'), markdown }
}

/** A guide as HTML, with its links to other guides. Nothing in it is anybody's but ours. */
export async function showGuide({ markdown }: Guide): Promise<Html> {
  // Only here: a server that nobody reads the documentation of starts without it.
  const { marked } = await import('marked')
  const content = await marked.parse(markdown)
  return raw(
    content
      .replaceAll(/(<a href="[\w-]+)\.md(?=["#])/g, '$1')
      .replaceAll('<table>', '<div class="scroll"><table>')
      .replaceAll('</table>', '</table></div>'),
  )
}
