import type { GivenResponse } from '../../boot.ts'

function read(): unknown {
  try {
    return JSON.parse(document.getElementById('boot')?.textContent ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}

/** What the HTML brought along, as `boot.ts` wrote it; undefined if the server refused some of it. */
export const bootRecord = read()

const responses = new Map(
  Object.entries((bootRecord as { responses?: Record<string, GivenResponse> } | undefined)?.responses ?? {}),
)

/** @returns the response that the HTML brought for a target, once */
export function takeResponse(target: string): GivenResponse | undefined {
  const response = responses.get(target)
  responses.delete(target)
  return response
}

/** Forgets the responses that nobody has taken: something has changed since. */
export const forgetResponses = () => responses.clear()
