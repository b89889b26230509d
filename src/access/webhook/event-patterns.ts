import { ACTIONS } from '../activity/actions.ts'

const NAMES = Object.keys(ACTIONS)
const NOUNS = [...new Set(NAMES.map((name) => name.slice(0, name.indexOf('.'))))]
const PATTERNS = ['*', ...NOUNS.map((noun) => `${noun}.*`), ...NAMES]

/** Whether a text is an action of the activity, all actions of a noun (`issue.*`), or all (`*`). */
export const isEventPattern = (text: string): boolean => PATTERNS.includes(text)

/** Describes an event that does not exist, with the nearest one that does. */
export function describeUnknownEvent(text: string): string {
  const given = text.slice(0, 60)
  const [nearest] = PATTERNS.map((pattern) => ({ pattern, edits: editDistance(given, pattern) })).sort(
    (a, b) => a.edits - b.edits,
  )
  return `there is no event ${given}. Did you mean ${nearest!.pattern}?`
}

/** Whether a webhook wants an action. */
export const wants = (patterns: readonly string[], action: string): boolean =>
  patterns.some(
    (pattern) =>
      pattern === '*' || pattern === action || (pattern.endsWith('.*') && action.startsWith(pattern.slice(0, -1))),
  )

/** Returns the number of letters to add, remove or replace (the Levenshtein distance). */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i)
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1]
    for (let j = 1; j <= to.length; j++) {
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (letter === to[j - 1] ? 0 : 1))
    }
    row = next
  }
  return row[to.length]!
}
