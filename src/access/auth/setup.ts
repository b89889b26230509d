import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** A link that works once, for whoever reads what the server prints at its start. Its token is nowhere but there. */
export interface OneTimeLink {
  /** The token of the link, while it can still be used. */
  readonly token: string | undefined
  matches(token: string): boolean
  /** Uses the link up. @returns whether it was this one's token and nobody was faster */
  use(token: string): boolean
  /** Makes a used link good again, when what it was used for failed. */
  giveBack(token: string): void
}

export function createOneTimeLink(token = randomBytes(32).toString('base64url')): OneTimeLink {
  let left: string | undefined = token
  const matches = (given: string) => left !== undefined && sameSecret(given, left)
  return {
    get token() {
      return left
    },
    matches,
    use(given) {
      if (!matches(given)) return false
      left = undefined
      return true
    },
    giveBack(given) {
      if (sameSecret(given, token)) left = token
    },
  }
}

const digest = (text: string) => createHash('sha256').update(text).digest()

/** Compares in a time that does not tell how much is right. */
export const sameSecret = (a: string, b: string) => timingSafeEqual(digest(a), digest(b))
