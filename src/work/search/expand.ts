import type { Db } from '../../platform/database/db.ts'
import { prefixPattern, wordPattern } from '../issue/words.ts'
import { listWords, type WordTable } from './queries.ts'

/**
 * FTS5 has indexes for prefixes of two and three characters, and finds the
 * words of a longer prefix only by reading all their entries. For other
 * characters than ASCII, the form of a word in the index is not known here.
 */
const NEEDS_EXPANSION = /^[a-z0-9]{4,}$/i

/** A prefix with more words is left to FTS5: it then takes longer to look the words up one by one. */
const MAX_WORDS = 64

/**
 * Returns an FTS5 expression for the texts that contain each term at the
 * beginning of a word, or undefined if no text does that does not contain all
 * terms as complete words. It lists the words that begin with a long term:
 * FTS5 reads the entries of words newest first and stops at a limit, however
 * long the history is.
 */
export function expandTerms(db: Db, table: WordTable, terms: readonly string[]): string | undefined {
  const long = terms.filter((term) => NEEDS_EXPANSION.test(term))
  const found = long.length === 0 ? [] : listWords(db, { table, prefixes: long.map(toPrefix), limit: MAX_WORDS + 1 })
  const wordsOf = Map.groupBy(found, ({ prefix }) => prefix)
  let hasLonger = long.length < terms.length
  const patterns: string[] = []
  for (const term of terms) {
    const words = wordsOf.get(toPrefix(term))?.map((word) => word.term) ?? []
    const isExpanded = long.includes(term) && words.length <= MAX_WORDS
    if (isExpanded && words.length === 0) return undefined
    if (words.some((word) => word !== toPrefix(term))) hasLonger = true
    patterns.push(isExpanded ? `(${words.map(wordPattern).join(' OR ')})` : prefixPattern(term))
  }
  return hasLonger ? patterns.join(' AND ') : undefined
}

const toPrefix = (term: string) => term.toLowerCase()
