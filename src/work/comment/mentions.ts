/**
 * Finds the agents that a comment mentions. A mention is `@` followed by the
 * full name of an agent, in any case. If several names match, the longest one
 * counts, so names may contain spaces. Code, e-mail addresses and URLs contain
 * no mentions, and neither does an `@` after a backslash.
 *
 * @returns each mentioned agent once; every agent of a name that several share
 */
export function findMentioned<Agent extends { name: string }>(
  markdown: string,
  mentionable: readonly Agent[],
): Agent[] {
  const found = new Set<Agent>()
  for (const { named } of mentionsIn(markdown, mentionable)) for (const agent of named) found.add(agent)
  return [...found]
}

/**
 * Finds the unknown names after an `@`, such as `Nobody` in `@Nobody, please
 * look`. A path such as `@types/node` is not a name.
 */
export function findUnknownMentions(markdown: string, mentionable: readonly { name: string }[]): string[] {
  const unknown = new Set<string>()
  for (const { text, start, named } of mentionsIn(markdown, mentionable)) {
    if (named.length > 0) continue
    WORD.lastIndex = start
    const word = WORD.exec(text)?.[0]
    if (word !== undefined) unknown.add(word)
  }
  return [...unknown].slice(0, 20)
}

/** A word that could be a name. The look ahead is bounded: without a bound, many words in a row take quadratic time. */
const WORD = /\p{L}[\p{L}\p{M}\p{N}_-]{0,63}(?![\p{L}\p{M}\p{N}_/.@-]{0,100}[/@])/uy

/** The maximum number of `@` that are parsed in a text. Without a limit, 33,000 of them would take 0.15 s. */
const MAX_READ = 1_000

/** Finds each `@` that starts a mention, and the agents with the name that follows. */
function* mentionsIn<Agent extends { name: string }>(markdown: string, mentionable: readonly Agent[]) {
  if (!markdown.includes('@')) return
  const plain = removeUrls(removeCode(markdown))
    .normalize('NFC')
    .replaceAll(/[^\S\n]+/g, ' ')
  const text = normalizeName(plain)
  const byName = Map.groupBy(mentionable, (agent) => normalizeName(agent.name))
  const longestFirst = [...byName.keys()].sort((a, b) => b.length - a.length)
  const byFirst = Map.groupBy(longestFirst, (name) => name[0])
  let read = 0
  for (const { index } of text.matchAll(MENTION_START)) {
    if (++read > MAX_READ) return
    const start = index + 1
    const name = byFirst
      .get(text[start])
      ?.find((name) => text.startsWith(name, start) && isNameEnd(text, start + name.length))
    // In some scripts, lower case changes the length of a text. The lower-case text is then used.
    yield {
      text: plain.length === text.length ? plain : text,
      start,
      named: name === undefined ? [] : byName.get(name)!,
    }
  }
}

/**
 * A character that continues a word. Characters of scripts without spaces
 * between words do not: a name may be followed directly by another word.
 */
const LETTER = '[[\\p{L}\\p{M}\\p{N}_]--[\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Thai}]]'

/** An `@` that is not part of an e-mail address and is not escaped. */
const MENTION_START = new RegExp(`(?<!${LETTER}[+%\\-]*|[@\\\\])@`, 'gv')

/** Characters that must not follow a name: letters, or a dash or dot followed by letters (`@bob-2`, `@bob.example`). */
const CONTINUATION = new RegExp(`(?:[\\-.@+]?${LETTER})`, 'yv')

function isNameEnd(text: string, at: number): boolean {
  CONTINUATION.lastIndex = at
  return !CONTINUATION.test(text)
}

/** Normalizes text for the comparison of names: case, encoding of accents, and white space. */
const normalizeName = (text: string) =>
  text
    .toLowerCase()
    .normalize('NFC')
    .replaceAll(/[^\S\n]+/g, ' ')

const removeUrls = (text: string) => text.replaceAll(/\bhttps?:\/\/\S+/gi, ' ')

/**
 * Removes the code from Markdown: fenced blocks, indented blocks and code spans.
 *
 * The lexer of `marked` would do the same, but any agent could then block the
 * server with a comment of 100,000 characters: `a_` 50,000 times takes it 18
 * seconds, and 10,000 nested quotations overflow its stack (marked 18.2). This
 * pass is linear.
 */
function removeCode(markdown: string): string {
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
    // Four spaces after a blank line start a code block, except within a list item.
    if (afterBlank && !inList && !isBlank && /^(?: {4}|\t)/.test(line)) continue
    if (isBlank) paragraphs.push('')
    else paragraphs.push(`${paragraphs.pop()}${line}\n`)
    afterBlank = isBlank
  }
  return paragraphs.map((paragraph) => paragraph.replaceAll(SPAN, ' ')).join('\n')
}

/** The fence of a code block, also within a quotation or a list item. */
const FENCE = /^[\s>]*(?:(?:[-*+]|\d+[.)])\s+)?(`{3,}(?=[^`]*$)|~{3,})/

/** A code span: backticks up to the same number of backticks, within one paragraph. */
const SPAN = /(?<![\\`])(`+)(?!`)(?:[\s\S]*?[^`])\1(?!`)/g
