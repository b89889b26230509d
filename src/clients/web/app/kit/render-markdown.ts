import DOMPurify from 'dompurify'
import { Marked } from 'marked'
import { agents, company } from '../state/company.ts'

const marked = new Marked({ gfm: true, breaks: true })

const cache = new Map<string, string>()
const CACHED = 300

/** Whether the HTML of a text is in the cache. */
export const isRendered = (text: string) => cache.has(text)

/** Renders Markdown to safe HTML. It links issue identifiers and highlights known `@Name`s. */
export function renderMarkdown(text: string): string {
  const known = cache.get(text)
  if (known !== undefined) return known
  const fragment = DOMPurify.sanitize(marked.parse(text, { async: false }), {
    RETURN_DOM_FRAGMENT: true,
    FORBID_TAGS: ['style', 'form', 'input', 'button', 'iframe'],
    FORBID_ATTR: ['style', 'class', 'id'],
  })
  link(fragment)
  for (const anchor of fragment.querySelectorAll('a')) {
    if (new URL(anchor.href, location.href).origin === location.origin) continue
    anchor.target = '_blank'
    anchor.rel = 'noopener noreferrer'
  }
  const box = document.createElement('div')
  box.append(fragment)
  const html = box.innerHTML
  if (cache.size >= CACHED) cache.delete(cache.keys().next().value!)
  cache.set(text, html)
  return html
}

/** Links issue identifiers such as `TER-6` and highlights `@Name`, outside code and links. */
function link(fragment: DocumentFragment): void {
  const prefix = company.peek()?.issuePrefix
  const names = agents.all
    .peek()
    .map(({ name }) => name)
    .toSorted((a, b) => b.length - a.length)
    .map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  const pattern = new RegExp(
    `(?<![\\w/-])${prefix}-\\d+(?![\\w-]|\\.\\w)${names.length > 0 ? `|@(?:${names.join('|')})(?![\\p{L}\\p{N}])` : ''}`,
    'giu',
  )
  const walker = document.createTreeWalker(fragment, NodeFilter.SHOW_TEXT)
  const texts: Text[] = []
  while (walker.nextNode()) texts.push(walker.currentNode as Text)
  for (const node of texts) {
    if (node.parentElement?.closest('a, code, pre')) continue
    const parts: (string | Node)[] = []
    let end = 0
    for (const match of node.data.matchAll(pattern)) {
      parts.push(node.data.slice(end, match.index), mark(match[0], prefix!))
      end = match.index + match[0].length
    }
    if (end > 0) node.replaceWith(...parts, node.data.slice(end))
  }
}

function mark(text: string, prefix: string): HTMLElement {
  const element = document.createElement(text.startsWith('@') ? 'b' : 'a')
  element.textContent = text
  if (element instanceof HTMLAnchorElement) element.href = `/${prefix}/issues/${text.toUpperCase()}`
  else element.className = 'mention'
  return element
}
