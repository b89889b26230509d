/**
 * Matches the beginning of keys of well-known services, of keys of this service
 * and of signed tokens. The rest of each alternative is bounded or always
 * matches, so the search takes linear time. `findKey` checks the two
 * alternatives that need a lookahead.
 */
const BEGINNING =
  /(?<![A-Za-z0-9])(?:gh[opsu]_\w{8,}|github_pat_\w{8,}|xox[abpr]-[\w-]{8,}|AKIA[A-Z0-9]{12,}|svcb?_[\w-]{8,}|sk-|eyJ)/g

/** The least number of characters after `sk-`, and in each of the first two parts of a signed token after `eyJ`. */
const [SHORTEST_KEY, SHORTEST_PART] = [16, 8]

/** A part of a text, from `start` to before `end`. */
interface Span {
  start: number
  end: number
}

/**
 * Finds the parts of a text that are recognizable as keys or signed tokens, in
 * linear time. One regular expression for all of them takes quadratic time: it
 * reads `sk-sk-sk-…` to the end from each `sk-`, 4 s for 100,000 characters.
 */
export function findKeys(text: string): Span[] {
  const found: Span[] = []
  const words = createWords(text)
  let end = 0
  for (const { index, 0: beginning } of text.matchAll(BEGINNING)) {
    if (index < end) continue
    const keyEnd =
      beginning === 'sk-'
        ? endOfKey(words, index)
        : beginning === 'eyJ'
          ? endOfToken(words, index)
          : index + beginning.length
    if (keyEnd === undefined) continue
    found.push({ start: index, end: keyEnd })
    end = keyEnd
  }
  return found
}

/** Returns a text with a replacement for each key in it. */
export function replaceKeys(text: string, replacement: string): string {
  let replaced = ''
  let from = 0
  for (const { start, end } of findKeys(text)) {
    replaced += text.slice(from, start) + replacement
    from = end
  }
  return replaced + text.slice(from)
}

/** `sk-` and 16 characters or more, with a digit among them. */
function endOfKey(words: Words, start: number): number | undefined {
  const { end, lastDigit } = words.at(start)
  return end - start - 3 >= SHORTEST_KEY && lastDigit >= start + 3 ? end : undefined
}

/** `eyJ` and three parts with dots between them. */
function endOfToken(words: Words, start: number): number | undefined {
  const { end, tokenEnd } = words.at(start)
  return end - start - 3 >= SHORTEST_PART ? tokenEnd() : undefined
}

/** A run of letters, digits, `_` and `-`. */
interface Word {
  end: number
  /** The index of its last digit; -1 if it has none. */
  lastDigit: number
  /** The end of the second and third part of a token whose first part ends with this word. */
  tokenEnd(): number | undefined
}

interface Words {
  /** Returns the word that contains an index. Indexes must not decrease, so that each word is read once. */
  at(index: number): Word
}

function createWords(text: string): Words {
  let word: Word | undefined
  const read = (start: number): number => {
    WORD.lastIndex = start
    return WORD.test(text) ? WORD.lastIndex : start
  }
  return {
    at(index) {
      if (word && index < word.end) return word
      const end = read(index)
      let lastDigit = end - 1
      while (lastDigit >= index && !isDigit(text.charCodeAt(lastDigit))) lastDigit--
      let tail: { end: number | undefined } | undefined
      const readTail = () => {
        if (text[end] !== '.') return undefined
        const second = read(end + 1)
        if (second - end - 1 < SHORTEST_PART || text[second] !== '.') return undefined
        const third = read(second + 1)
        return third > second + 1 ? third : undefined
      }
      word = {
        end,
        lastDigit,
        tokenEnd() {
          tail ??= { end: readTail() }
          return tail.end
        },
      }
      return word
    },
  }
}

const WORD = /[\w-]+/y

const isDigit = (code: number) => code >= 0x30 && code <= 0x39

const LONG_WORD = /[A-Za-z0-9_-]{20,}/g

/** Whether a text has a run of this many letters and digits, with both: it may be a key. */
export const isKeyLike = (text: string) =>
  [...text.matchAll(LONG_WORD)].some(([word]) => /\d/.test(word) && /[a-z]/i.test(word))
