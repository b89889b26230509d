import { isCredentialName } from '../../adapter/ordinary-value.ts'
import { isKeyLike } from './key-formats.ts'
import { isSecretName } from './redact.ts'

/** A shorter value of an option or a query parameter is no key. */
const SHORTEST_KEY = 8

/** Hosts and paths of incoming webhooks. Such a URL is a credential: anyone who knows it can post to it. */
const HOOK = /^[a-z]+:\/\/(?:hooks?\.|[^/]+\/(?:[^?#]*\/)?(?:web)?hooks?\/|[^/]+\/bot\d+:)/i

/** The length of a scheme is bounded, so that the search takes linear time. */
const URLS = /\b[a-z][a-z\d+.-]{0,30}:\/\/[^\s"'<>`)\]]+/gi

/** Whether a URL may contain a credential: a user, a key in its query, or a path that is itself the key, as hooks have. */
function isSecretUrl(text: string): boolean {
  const url = URL.parse(text)
  if (!url) return false
  if (url.username !== '' || url.password !== '' || HOOK.test(text)) return true
  const parameters = [...url.searchParams, ...new URLSearchParams(url.hash.slice(1))]
  if (parameters.some(([name, value]) => isSecretPair(name, value) || isKeyLike(value))) return true
  return url.pathname.split('/').some((part) => isKeyLike(part) && !/^[a-z]+(?:-[a-z]+)*(?:-\d+)?$/.test(part))
}

/** Whether the name of an option or parameter says that its value is a credential. */
const isSecretPair = (name: string, value: string) =>
  isSecretName(name) ? value.length > 0 : isCredentialName(name) && value.length >= SHORTEST_KEY

/** Whether a text contains a URL that may contain a credential. */
export const containsSecretUrl = (text: string): boolean => [...text.matchAll(URLS)].some(([url]) => isSecretUrl(url))

/** A word of 16 letters and digits or more. Names of models and ids have hyphens. */
const KEY_WORD = /(?<![\w-])\w{16,}(?![\w-])/g

/** Whether an argument has a word that may be a key, although no name says so: `-k x`, `-u user:x`. */
const containsKeyWord = (text: string) =>
  [...text.matchAll(KEY_WORD)].some(([word]) => /\d/.test(word) && /[a-z]/i.test(word))

/**
 * Whether a value of a configuration may contain a credential that has no known
 * form: in a URL, or as the value of an option such as `--key`. It also finds
 * values that are none; an export leaves them out, with a warning.
 */
export function mayContainSecret(value: unknown): boolean {
  if (typeof value === 'string') {
    const words = value.split(/\s+/).map((word) => trimQuotes(word))
    return containsSecretUrl(value) || isSecretCommand(words)
  }
  if (Array.isArray(value)) {
    const texts = value.map((item) => (typeof item === 'string' ? item : ''))
    return isSecretCommand(texts) || texts.some(containsKeyWord) || value.some(mayContainSecret)
  }
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(
    ([name, inner]) => (typeof inner === 'string' && isSecretPair(name, inner)) || mayContainSecret(inner),
  )
}

/** Removes the quotes around a word of a shell command. */
function trimQuotes(word: string): string {
  const isQuote = (index: number) => word[index] === '"' || word[index] === "'"
  let [start, end] = [0, word.length]
  while (start < end && isQuote(start)) start++
  while (end > start && isQuote(end - 1)) end--
  return word.slice(start, end)
}

/** Whether words contain `--key VALUE`, `--key=VALUE`, `KEY=VALUE` or `Authorization: VALUE`. */
const isSecretCommand = (words: readonly string[]): boolean =>
  words.some((word, i) => {
    const pair = /^-*([A-Za-z][\w-]*)[=:](.+)$/s.exec(word)
    if (pair) return isSecretPair(pair[1]!, pair[2]!.trim())
    const name = /^(?:-+([A-Za-z][\w-]*)|([A-Za-z][\w-]*):)$/.exec(word)
    return name !== null && isSecretPair(name[1] ?? name[2]!, words.slice(i + 1, i + 3).join(' '))
  })
