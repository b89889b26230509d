/** The wait before a failed run is tried again, in milliseconds: doubled with each try of its root cause. */
const FIRST_WAIT_MS = 10_000

/** No wait of ours is longer, in milliseconds; a provider's may be. */
export const LONGEST_WAIT_MS = 10 * 60_000

/** How long to wait after so many tries that failed, in milliseconds. */
export const backoff = (tries: number) => Math.min(FIRST_WAIT_MS * 2 ** (tries - 1), LONGEST_WAIT_MS)
