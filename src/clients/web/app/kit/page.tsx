import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { pageTitle } from '../state/title.ts'

interface PageProps {
  title: string
  /** The text in the header, if the content starts with the title. */
  heading?: ComponentChildren
  /** The content before the title, such as a link to the parent page. */
  trail?: ComponentChildren
  /** The content after the title, such as filters. */
  tools?: ComponentChildren
  /** The buttons at the end, main button last. */
  actions?: ComponentChildren
  /** Whether the page is narrow (forms, texts). A list has the full width and scrolls by itself. */
  layout?: 'list' | 'narrow' | 'wide'
  children: ComponentChildren
}

/** The frame of every page: a header and the content below it. */
export function Page({ title, heading, trail, tools, actions, layout = 'wide', children }: PageProps) {
  useEffect(() => {
    pageTitle.value = title
  }, [title])
  return (
    <main class={`page ${layout}`} id="content">
      <header class="page-head">
        {trail}
        <h1>{heading ?? title}</h1>
        {tools && <div class="page-tools">{tools}</div>}
        {actions && <div class="page-actions">{actions}</div>}
      </header>
      <div class="page-body">{children}</div>
    </main>
  )
}
