/** The wait before the first retry of a failed run, in milliseconds. It doubles with each retry. */
const FIRST_WAIT_MS = 10_000

/** The longest wait that the server chooses, in milliseconds. A provider's rate limit may last longer. */
export const LONGEST_WAIT_MS = 10 * 60_000

/**
 * Returns the wait before the next retry, in milliseconds.
 *
 * @param attempts the failed attempts so far, at least 1
 */
export const backoff = (attempts: number) => Math.min(FIRST_WAIT_MS * 2 ** (attempts - 1), LONGEST_WAIT_MS)
