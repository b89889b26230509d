import { signal } from '@preact/signals'

type Render = (text: string) => string

/** Loaded when the first text is shown: it is a third of what the page needs to begin. */
const render = signal<Render | undefined>(undefined)
let isLoading = false

function load(): void {
  if (isLoading) return
  isLoading = true
  void import('./render-markdown.ts').then((module) => {
    render.value = module.renderMarkdown
  })
}

/** Markdown as a person wrote it, made safe. Until the renderer is there the text stands as it is. */
export function Markdown({ text }: { text: string }) {
  if (!render.value) {
    load()
    return <div class="prose plain">{text}</div>
  }
  return <div class="prose" dangerouslySetInnerHTML={{ __html: render.value(text) }} />
}
