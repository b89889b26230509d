import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { pageTitle } from '../state/title.ts'

interface PageProps {
  title: string
  /** What the header shows, where the content begins with the title itself. */
  heading?: ComponentChildren
  /** What stands before the title, such as a link to where this page belongs. */
  trail?: ComponentChildren
  /** Filters and the like, after the title. */
  tools?: ComponentChildren
  /** Buttons at the end, the main one last. */
  actions?: ComponentChildren
  /** A narrow page is a form or a text; a list takes the whole width, and scrolls by itself. */
  layout?: 'list' | 'narrow' | 'wide'
  children: ComponentChildren
}

/** The frame of every page: a header line, and the content below it. */
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
