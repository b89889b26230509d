/** What every page needs before it can show anything, and the endpoint that it comes from. */
const EVERYWHERE = {
  companies: '/api/companies',
  session: '/api/auth/session',
  instance: '/api/instance',
}

/** What every page of a company needs. */
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

/**
 * Collects the responses with which the page begins, so that its first view
 * waits for one request and not for a dozen. They are the responses of the
 * public API to the person who opens the page.
 *
 * @param prefix the issue prefix that the address names
 * @returns JSON for a script element; `null` if an endpoint refuses, and the page then asks by itself
 */
export async function bootRecord(prefix: string | undefined, get: Get): Promise<string> {
  const everywhere = await collect(EVERYWHERE, get)
  if (!everywhere) return 'null'
  const companies: { id: string; issuePrefix: string }[] = JSON.parse(everywhere.companies!)
  const found = companies.find(({ issuePrefix }) => issuePrefix === prefix)
  const company = found && (await collect(ofCompany(found.id), get))
  const parts = company ? { ...everywhere, company: toJson({ id: JSON.stringify(found.id), ...company }) } : everywhere
  // `</script>` in a text must not end the element.
  return toJson(parts).replaceAll('<', '\\u003c')
}

/** @returns the bodies by name, or undefined if one of the endpoints refuses */
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

/** Joins parts that are JSON already. */
const toJson = (parts: Record<string, string>) =>
  `{${Object.entries(parts)
    .map(([name, json]) => `${JSON.stringify(name)}:${json}`)
    .join(',')}}`
