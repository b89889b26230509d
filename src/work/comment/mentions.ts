/**
 * Finds whom a comment mentions: `@` and an agent's whole name, in any case.
 * Of names that begin alike the longest counts, so names with spaces work. Code
 * is not searched, nor are addresses (`bob@acme.example`, a URL), and an `@`
 * after a backslash is only a sign.
 *
 * @returns each agent that is mentioned, once; all the agents of a name
 */
export function findMentioned<Agent extends { name: string }>(markdown: string, agents: readonly Agent[]): Agent[] {
  if (!markdown.includes('@')) return []
  const text = fold(withoutAddresses(withoutCode(markdown)))
  const byName = Map.groupBy(agents, (agent) => fold(agent.name))
  const longestFirst = [...byName.keys()].sort((a, b) => b.length - a.length)
  const byFirst = Map.groupBy(longestFirst, (name) => name[0])
  const found = new Set<Agent>()
  for (const { index } of text.matchAll(MENTION_START)) {
    const start = index + 1
    const name = byFirst
      .get(text[start])
      ?.find((name) => text.startsWith(name, start) && isNameEnd(text, start + name.length))
    for (const agent of name === undefined ? [] : byName.get(name)!) found.add(agent)
  }
  return [...found]
}

/**
 * A character that goes on a word. Scripts that set no spaces between words
 * have none: there a name ends where it ends.
 */
const LETTER = '[[\\p{L}\\p{M}\\p{N}_]--[\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Thai}]]'

/** An `@` that ends no e-mail address's first part and is not escaped. */
const MENTION_START = new RegExp(`(?<!${LETTER}[+%\\-]*|[@\\\\])@`, 'gv')

/** What may not follow a name: more of the word, or a dash or dot with more of it (`@bob-2`, `@bob.example`). */
const GOES_ON = new RegExp(`(?:[\\-.@+]?${LETTER})`, 'yv')

function isNameEnd(text: string, at: number): boolean {
  GOES_ON.lastIndex = at
  return !GOES_ON.test(text)
}

/** Names are compared without regard to case, to how an accent is encoded, and to how wide a space is. */
const fold = (text: string) =>
  text
    .toLowerCase()
    .normalize('NFC')
    .replaceAll(/[^\S\n]+/g, ' ')

const withoutAddresses = (text: string) => text.replaceAll(/\bhttps?:\/\/\S+/gi, ' ')

/** Markdown without its code: fenced and indented blocks, and spans. */
function withoutCode(markdown: string): string {
  const paragraphs: string[] = ['']
  let fence: string | undefined
  let inList = false
  let afterBlank = true
  for (const line of markdown.split(/\r\n|\r|\n/)) {
    const mark = FENCE.exec(line)?.[1]
    if (fence !== undefined) {
      if (mark?.startsWith(fence) && /^[\s>]*[`~]+\s*$/.test(line)) fence = undefined
      continue
    }
    if (mark !== undefined) {
      fence = mark
      paragraphs.push('')
      continue
    }
    const isBlank = line.trim() === ''
    if (/^\s*(?:[-*+]|\d+[.)])\s/.test(line)) inList = true
    else if (!isBlank && afterBlank && /^\S/.test(line)) inList = false
    // Four spaces after a blank line are code, unless they go on a list's item.
    if (afterBlank && !inList && !isBlank && /^(?: {4}|\t)/.test(line)) continue
    if (isBlank) paragraphs.push('')
    else paragraphs.push(`${paragraphs.pop()}${line}\n`)
    afterBlank = isBlank
  }
  return paragraphs.map((paragraph) => paragraph.replaceAll(SPAN, ' ')).join('\n')
}

/** The fence of a code block, also in a quotation or a list's item. */
const FENCE = /^[\s>]*(?:(?:[-*+]|\d+[.)])\s+)?(`{3,}(?=[^`]*$)|~{3,})/

/** A code span: backticks up to as many backticks, within a paragraph. */
const SPAN = /(?<![\\`])(`+)(?!`)(?:[\s\S]*?[^`])\1(?!`)/g
