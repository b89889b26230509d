import type { GivenResponse } from '../../boot.ts'

function read(): unknown {
  try {
    return JSON.parse(document.getElementById('boot')?.textContent ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}

/** The data in the HTML, as written by `boot.ts`; undefined if an endpoint returned an error. */
export const bootRecord = read()

const responses = new Map(
  Object.entries((bootRecord as { responses?: Record<string, GivenResponse> } | undefined)?.responses ?? {}),
)

/** @returns the response in the HTML for a target, only once */
export function takeResponse(target: string): GivenResponse | undefined {
  const response = responses.get(target)
  responses.delete(target)
  return response
}

/** Discards the unused responses, because the data has changed. */
export const forgetResponses = () => responses.clear()
