/** Returns the words of a search, each once. Text without a letter or a digit is in no index and is omitted. */
export function termsOf(q: string): string[] {
  const words = q.toWellFormed().split(/[\s\p{Cc}]+/u)
  return [...new Set(words.filter((word) => /[\p{L}\p{N}]/u.test(word)))]
}

/** Returns an FTS5 expression for words that begin with the term. The term may contain any characters. */
export const prefixPattern = (term: string) => `${wordPattern(term)}*`

/** An FTS5 expression that matches the term as a complete word. A term with a dash (`ABC-12`) is a phrase. */
export const wordPattern = (term: string) => `"${term.replaceAll('"', '""')}"`

/**
 * Returns a function that decides whether a text contains a term, with the
 * rules of the full-text index: at the beginning of a word, regardless of case and accents.
 */
export function createMatcher(terms: readonly string[]): (text: string) => boolean[] {
  const wanted = terms.map((term) => ` ${fold(term)}`)
  return (text) => {
    const folded = ` ${fold(text)}`
    return wanted.map((term) => folded.includes(term))
  }
}

/** Returns a function that decides whether texts together contain every term as a complete word. */
export function createWordMatcher(terms: readonly string[]): (texts: readonly string[]) => boolean {
  const wanted = terms.map((term) => ` ${fold(term)} `)
  return (texts) => {
    // Two spaces between two texts: a phrase does not continue in the next text.
    const folded = ` ${texts.map(fold).join('  ')} `
    return wanted.every((term) => folded.includes(term))
  }
}

/** Converts a text to lower-case words without accents, with one space between two words. */
export function fold(text: string): string {
  const plain = IS_ASCII.test(text) ? text : text.normalize('NFD').replaceAll(/\p{M}/gu, '')
  return plain
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

const IS_ASCII = /^[\0-\x7f]*$/
