import { signal } from '@preact/signals'

interface Renderer {
  renderMarkdown: (text: string) => string
  isRendered: (text: string) => boolean
}

/** Loaded when the first text is shown: it is a third of what the page needs to begin. */
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
 * Markdown as a person wrote it, made safe. Until the renderer is there the text stands as it is.
 *
 * @param isPassing the text scrolls by: it stands as it is, unless it was rendered before
 */
export function Markdown({ text, isPassing = false }: { text: string; isPassing?: boolean }) {
  if (!renderer.value) load()
  if (!renderer.value || (isPassing && !renderer.value.isRendered(text))) return <div class="prose plain">{text}</div>
  return <div class="prose" dangerouslySetInnerHTML={{ __html: renderer.value.renderMarkdown(text) }} />
}
