import { signal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import type { DiffLine } from './compare.ts'
import { number } from './format.ts'

type Compare = (before: string, after: string) => DiffLine[]

/** Loaded when the first difference is shown. */
const compare = signal<Compare | undefined>(undefined)
let isLoading = false

function load(): void {
  if (isLoading) return
  isLoading = true
  void import('./compare.ts').then((module) => {
    compare.value = module.compareTexts
  })
}

const SIGNS: Record<DiffLine['kind'], string> = { same: ' ', added: '+', removed: '-', gap: '⋯' }

/** The lines that two texts differ in, with a few that surround them. A sign stands before each line, besides its colour. */
export function Diff({ before, after }: { before: string; after: string }) {
  const lines = useMemo(() => compare.value?.(before, after), [before, after, compare.value])
  if (!lines) {
    load()
    return <pre class="diff">{after}</pre>
  }
  return <DiffLines lines={lines} />
}

/** So many lines of a difference are shown. */
const SHOWN_LINES = 3_000

/** Lines of a difference that is known already, such as those of a patch. */
export function DiffLines({ lines }: { lines: readonly DiffLine[] }) {
  return (
    <pre class="diff" tabIndex={0}>
      {lines.slice(0, SHOWN_LINES).map(({ kind, text }, index) => (
        <span key={index} class={kind}>
          {SIGNS[kind]} {text}
          {'\n'}
        </span>
      ))}
      {lines.length > SHOWN_LINES && <span class="gap">{number(lines.length - SHOWN_LINES)} more lines</span>}
    </pre>
  )
}
