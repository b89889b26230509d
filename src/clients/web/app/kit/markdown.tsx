import { signal } from '@preact/signals'

interface Renderer {
  renderMarkdown: (text: string) => string
  isRendered: (text: string) => boolean
}

/** The renderer, loaded when the first text is displayed. It is a third of the size of the initial code. */
const renderer = signal<Renderer | undefined>(undefined)
let isLoading = false

function load(): void {
  if (isLoading) return
  isLoading = true
  void import('./render-markdown.ts').then((module) => {
    renderer.value = module
  })
}

/**
 * Renders Markdown to safe HTML. It displays the source until the renderer is loaded.
 *
 * @param isPassing whether the reader scrolls; the source is then displayed unless the HTML is in the cache
 */
export function Markdown({ text, isPassing = false }: { text: string; isPassing?: boolean }) {
  if (!renderer.value) load()
  if (!renderer.value || (isPassing && !renderer.value.isRendered(text))) return <div class="prose plain">{text}</div>
  return <div class="prose" dangerouslySetInnerHTML={{ __html: renderer.value.renderMarkdown(text) }} />
}
