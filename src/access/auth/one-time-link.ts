import { randomBytes } from 'node:crypto'
import { isSameSecret } from '../../platform/credential.ts'

/** A link that works once. The server prints it at its start and stores its token nowhere else. */
export interface OneTimeLink {
  /** The token of the link; undefined after its use. */
  readonly token: string | undefined
  matches(token: string): boolean
  /**
   * Marks the link as used.
   *
   * @returns whether the token is correct and was not used before
   */
  use(token: string): boolean
  /** Makes a used link valid again, if the action that used it failed. */
  giveBack(token: string): void
}

export function createOneTimeLink(token = randomBytes(32).toString('base64url')): OneTimeLink {
  let left: string | undefined = token
  const matches = (given: string) => left !== undefined && isSameSecret(given, left)
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
      if (isSameSecret(given, token)) left = token
    },
  }
}
