import { diffLines } from 'diff'

export interface DiffLine {
  kind: 'same' | 'added' | 'removed' | 'gap'
  text: string
}

/** The number of unchanged lines around a change. */
const CONTEXT = 3

/** Compares two texts line by line. It omits long unchanged parts. */
export function compareTexts(before: string, after: string): DiffLine[] {
  const lines = diffLines(before, after).flatMap(({ value, added, removed }): DiffLine[] =>
    value
      .replace(/\n$/, '')
      .split('\n')
      .map((text) => ({ kind: added ? 'added' : removed ? 'removed' : 'same', text })),
  )
  const isNear = (index: number) =>
    lines.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(({ kind }) => kind !== 'same')
  const displayed: DiffLine[] = []
  let left = 0
  lines.forEach((line, index) => {
    if (isNear(index)) {
      if (left > 0) displayed.push({ kind: 'gap', text: left === 1 ? '1 equal line' : `${left} equal lines` })
      left = 0
      displayed.push(line)
    } else left++
  })
  return displayed
}
