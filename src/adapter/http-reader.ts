import type { OutputReader } from './adapter.ts'
import { cut } from './usage.ts'

/** Creates the reader of the output of `post.ts`: the first line is `HTTP <status>`, and the response body follows. */
export function httpReader(): OutputReader {
  let first = true
  return {
    line(text) {
      const status = first ? /^HTTP (\d{3})$/.exec(text.trim())?.[1] : undefined
      first = false
      if (!status) return []
      if (status.startsWith('2')) return [{ kind: 'outcome', ok: true, code: null, message: null }]
      return [
        {
          kind: 'outcome',
          ok: false,
          code: `http_${status}`,
          message: `The agent's URL returned the status ${status}.`,
        },
      ]
    },
    errorLine(text) {
      return text.trim() ? [{ kind: 'outcome', ok: false, code: 'http_failed', message: cut(text.trim()) }] : []
    },
  }
}
