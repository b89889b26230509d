import { toApiError } from './api.ts'
import { toast } from './toasts.ts'

/**
 * Does something that the page shows at once. When the server refuses it, the
 * change is undone and the server's reason is shown.
 *
 * @param change applies it to the page and returns what undoes that
 * @returns what the server returned, or undefined when it failed
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

/** What went wrong, as a sentence for people. */
export function reasonOf(error: unknown): string {
  const known = toApiError(error)
  const { fields = [] } = ('details' in known ? (known.details ?? {}) : {}) as {
    fields?: { path: string; message: string }[]
  }
  return fields.length > 0 ? fields.map(({ path, message }) => `${path} ${message}`).join('; ') : known.message
}
