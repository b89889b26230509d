import { signal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import type { DiffLine } from './compare.ts'
import { number } from './format.ts'

type Compare = (before: string, after: string) => DiffLine[]

/** The diff library, loaded when the first diff is displayed. */
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

/** The diff of two texts, with a few unchanged lines around each change. Each line has a sign and a color. */
export function Diff({ before, after }: { before: string; after: string }) {
  const lines = useMemo(() => compare.value?.(before, after), [before, after, compare.value])
  if (!lines) {
    load()
    return <pre class="diff">{after}</pre>
  }
  return <DiffLines lines={lines} />
}

/** The maximum number of displayed lines. */
const SHOWN_LINES = 3_000

/** Displays the lines of a diff that is already computed, such as a patch. */
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
