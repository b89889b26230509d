/** A shorter value is not a secret by itself, and would blank out ordinary words of the output. */
const SHORTEST_SECRET = 8

/** Values that are no secret, by their form. `docs/guides/secrets.md` lists them. */
const ORDINARY = [
  /^-?[\d.,]+$/, // a number or a version
  /^[A-Za-z]{1,16}$/, // one word, such as `production`
  /^(?=.{1,24}$)[a-z]+(?:[-_.][a-z]+){1,2}$/i, // words, such as `us-east-gov`
  /^[a-z]{2,3}_[A-Z]{2}(?:\.[\w-]+)?$/, // a locale
  /^[A-Za-z]+(?:\/[A-Za-z_]+){1,2}$/, // a time zone or a repository, such as `Europe/Vienna`
  /^~?\.{0,2}\/[^\s:=?]*$/, // a path
  /^\d{4}-\d\d-\d\d(?:T[\d:.]+Z?)?$/, // a date
  /^[a-z][a-z\d+.-]*:\/\/[\w.-]+(?::\d+)?(?:\/[\w./-]{0,40})?$/i, // a URL of a host, without a user or a query
  /^[\w.-]+:\d{1,5}$/, // a host and port
]

const LONG_WORD = /[A-Za-z0-9]{16,}/g

/** Whether a path or a URL has a long run of letters and digits: it may be a key, as in the URLs of hooks. */
const hasLongPart = (value: string) => [...value.matchAll(LONG_WORD)].some(([word]) => /\d/.test(word))

/** Names of credentials that have no form of their own. */
const CREDENTIAL_NAME = /(?:^|[_-])(?:key|pass|pwd?|pin|pat|auth|dsn|hook|webhook|salt|sig|signature)(?:[_-]|$)/i

/** Whether a name, such as `STRIPE_KEY`, says that its value is a credential. */
export const isCredentialName = (name: string): boolean => CREDENTIAL_NAME.test(name)

/** Whether the value of an environment variable or header is plainly no secret, so that the output may show it. */
export const isOrdinaryValue = (name: string, value: string): boolean =>
  value.length < SHORTEST_SECRET ||
  (!CREDENTIAL_NAME.test(name) && ORDINARY.some((form) => form.test(value)) && !hasLongPart(value))
