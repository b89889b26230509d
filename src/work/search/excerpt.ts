import { fold } from '../issue/words.ts'

/** The number of characters of a text that are searched for the first match. Limits the time for long texts. */
export const EXCERPT_SOURCE = 16_000

const WORDS = 24
const WORDS_BEFORE = 6

/** Cuts a long word, such as an encoded file. */
const MAX_CHARACTERS = 400

/** Returns about 24 words of a text around the first word that begins with one of the terms. */
export function excerptOf(text: string, terms: readonly string[]): string {
  const wanted = terms.map((term) => fold(term).split(' ')[0]!)
  const words = [...text.slice(0, EXCERPT_SOURCE).matchAll(/[\p{L}\p{N}\p{M}]+/gu)]
  const found = words.findIndex(([word]) => {
    const folded = fold(word)
    return wanted.some((term) => folded.startsWith(term))
  })
  const first = Math.max(0, found - WORDS_BEFORE)
  const start = first === 0 ? 0 : words[first]!.index
  const wordsEnd = words[first + WORDS]?.index ?? text.length
  const end = Math.min(wordsEnd, start + MAX_CHARACTERS)
  const part = text.slice(start, end).toWellFormed().trim()
  return `${start > 0 ? '…' : ''}${part}${end < text.length ? '…' : ''}`
}
