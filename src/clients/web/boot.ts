import { FIRST_REQUESTS, type PageAddress } from './first-requests.ts'

/** The endpoints whose responses every page needs at its start. */
const EVERYWHERE = {
  companies: '/api/companies',
  session: '/api/auth/session',
  instance: '/api/instance',
}

/** Returns the endpoints whose responses every page of a company needs. */
const ofCompany = (id: string) => ({
  agents: `/api/companies/${id}/agents`,
  projects: `/api/companies/${id}/projects`,
  goals: `/api/companies/${id}/goals`,
  labels: `/api/companies/${id}/labels`,
  members: `/api/companies/${id}/members`,
  runs: `/api/companies/${id}/live-runs`,
  inbox: `/api/inbox?companyId=${id}`,
  approvals: `/api/companies/${id}/approvals?status=pending`,
})

/** Requests an endpoint as the person who opens the page. */
type Get = (target: string) => Promise<Response>

interface Opened {
  /** The issue prefix in the address. */
  prefix: string | undefined
  /** The address of the page below the company's, such as `issues/:issueRef`, and the values of its parameters. */
  page: { address: string; params: Record<string, string> } | undefined
  query: URLSearchParams
}

/**
 * Collects the API responses that the first view of a page needs. The page then
 * needs one request instead of a dozen. The requests have the permissions of
 * the person who opens the page.
 *
 * @returns JSON for a script element; `null` if an endpoint returns an error: the page then sends the requests itself
 */
export async function bootRecord({ prefix, page, query }: Opened, get: Get): Promise<string> {
  const everywhere = await collect(EVERYWHERE, get)
  if (!everywhere) return 'null'
  const companies: { id: string; issuePrefix: string }[] = JSON.parse(everywhere.companies!)
  const found = companies.find(({ issuePrefix }) => issuePrefix === prefix)
  const company = found && (await collect(ofCompany(found.id), get))
  const parts = company
    ? {
        ...everywhere,
        company: toJson({ id: JSON.stringify(found.id), ...company }),
        ...(page && { responses: await firstResponses({ ...page, companyId: found.id, query }, get) }),
      }
    : everywhere
  // Escapes `</script>` in a text, which would end the element.
  return toJson(parts).replaceAll('<', '\\u003c')
}

/** Returns the responses to the first requests of the page, by target. Errors are omitted: the page displays them. */
async function firstResponses(
  { address, ...opened }: Omit<PageAddress, 'get'> & { address: string },
  get: Get,
): Promise<string> {
  const known = new Map<string, Promise<GivenResponse | undefined>>()
  const once = (target: string) => {
    const response = known.get(target) ?? get(target).then(toGiven)
    known.set(target, response)
    return response
  }
  const targets = (await FIRST_REQUESTS[address]?.({ ...opened, get: once })) ?? []
  const entries = await Promise.all(targets.map(async (target) => [target, await once(target)] as const))
  return JSON.stringify(Object.fromEntries(entries.filter(([, response]) => response !== undefined)))
}

/** A response in the HTML of the page. */
export interface GivenResponse {
  text: string
  headers: Record<string, string>
}

const toGiven = async (response: Response): Promise<GivenResponse | undefined> =>
  response.ok
    ? {
        text: await response.text(),
        headers: Object.fromEntries(
          ['content-type', 'link', 'x-total-count'].flatMap((name) => {
            const value = response.headers.get(name)
            return value === null ? [] : [[name, value]]
          }),
        ),
      }
    : undefined

/** Returns the bodies by name, or undefined if an endpoint returns an error. */
async function collect(targets: Record<string, string>, get: Get): Promise<Record<string, string> | undefined> {
  const bodies = await Promise.all(
    Object.entries(targets).map(async ([name, target]) => {
      const response = await get(target)
      return response.ok ? ([name, await response.text()] as const) : undefined
    }),
  )
  const found = bodies.filter((body) => body !== undefined)
  return found.length === bodies.length ? Object.fromEntries(found) : undefined
}

/** Builds a JSON object from values that are already JSON. */
const toJson = (parts: Record<string, string>) =>
  `{${Object.entries(parts)
    .map(([name, json]) => `${JSON.stringify(name)}:${json}`)
    .join(',')}}`
