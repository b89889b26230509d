import { toApiError } from './api.ts'
import { toast } from './toasts.ts'

/**
 * Sends a change to the server and applies it to the page immediately. If the
 * server rejects it, the change is reverted and the error is displayed.
 *
 * @param change applies the change to the page and returns a function that reverts it
 * @returns the response body, or undefined if the request failed
 */
export async function act<T>(send: () => Promise<T>, change?: () => () => void): Promise<T | undefined> {
  const undo = change?.()
  try {
    return await send()
  } catch (error) {
    undo?.()
    toast(reasonOf(error), { tone: 'danger' })
    return undefined
  }
}

/** Returns the error message for people. */
export function reasonOf(error: unknown): string {
  const known = toApiError(error)
  const { fields = [] } = ('details' in known ? (known.details ?? {}) : {}) as {
    fields?: { path: string; message: string }[]
  }
  return fields.length > 0 ? fields.map(({ path, message }) => `${path} ${message}`).join('; ') : known.message
}
