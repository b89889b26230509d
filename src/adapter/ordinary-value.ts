/** The minimum length of a secret, in characters. Redacting shorter values would remove ordinary words. */
const SHORTEST_SECRET = 8

/** The patterns of values that are not secrets. `docs/guides/secrets.md` lists them. */
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

/** Whether a path or a URL has a long sequence of letters and digits, which may be a key, as in webhook URLs. */
const hasLongPart = (value: string) => [...value.matchAll(LONG_WORD)].some(([word]) => /\d/.test(word))

/** Matches names that indicate a credential, for any value. */
const CREDENTIAL_NAME = /(?:^|[_-])(?:key|pass|pwd?|pin|pat|auth|dsn|hook|webhook|salt|sig|signature)(?:[_-]|$)/i

/** Whether a name, such as `STRIPE_KEY`, indicates that its value is a credential. */
export const isCredentialName = (name: string): boolean => CREDENTIAL_NAME.test(name)

/** Whether the value of an environment variable or header is not a secret and may appear in the output. */
export const isOrdinaryValue = (name: string, value: string): boolean =>
  value.length < SHORTEST_SECRET ||
  (!CREDENTIAL_NAME.test(name) && ORDINARY.some((form) => form.test(value)) && !hasLongPart(value))
