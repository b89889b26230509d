import { raw } from '../../platform/database/sql.ts'

/**
 * The condition that an issue has every word of a search somewhere: in its
 * title, identifier, description or any comment. A word matches the beginnings
 * of words; one with a dash (`ABC-12`) matches its parts in that order.
 */
export function matches(q: string) {
  const terms = JSON.stringify(termsOf(q).map(toPattern))
  // For each word the issues that have it, in either index, each once; then those that have all the words.
  return raw<boolean>`issue.seq in (
    select seq from (
      select term.key, issue_text.rowid as seq from json_each(${terms}) as term
        cross join issue_text where issue_text match term.value
      union
      select term.key, commented.seq from json_each(${terms}) as term
        cross join comment_text cross join comment cross join issue as commented
        where comment_text match term.value and comment.seq = comment_text.rowid and commented.id = comment.issue_id
    ) group by seq having count(*) = json_array_length(${terms}))`
}

/** The words of a search, each once; what has neither a letter nor a digit is in no index and left out. */
export function termsOf(q: string): string[] {
  const words = q.toWellFormed().split(/[\s\p{Cc}]+/u)
  return [...new Set(words.filter((word) => /[\p{L}\p{N}]/u.test(word)))]
}

/** A word as FTS5 takes it whatever is in it: a quoted string, matched as a prefix. */
export const toPattern = (word: string) => `"${word.replaceAll('"', '""')}"*`
