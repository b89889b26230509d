/** The address of a page, and the API as the person who opens it. */
export interface PageAddress {
  companyId: string
  /** The parts of the address that have a name, such as `issueRef`. */
  params: Record<string, string>
  query: URLSearchParams
  get: (target: string) => Promise<{ text: string } | undefined>
}

/** The statuses that the list of issues shows unless the address names others, in its order. */
export const LISTED_STATUSES = ['in_progress', 'in_review', 'blocked', 'todo', 'backlog', 'done'] as const

/** How many issues of a status the list loads first: more than a screen shows. */
export const FIRST_ISSUES = 40

/**
 * What each page requests first, by its address below the company's. The
 * server sends the responses along with the page (`boot.ts`), so the first view
 * waits for no further request. A target must be exactly what the page
 * requests: test/clients/web/first-view.ci.test.ts compares them.
 */
export const FIRST_REQUESTS: Record<string, (address: PageAddress) => string[] | Promise<string[]>> = {
  issues: ({ companyId, query }) =>
    [...query.keys()].every((name) => name === 'view')
      ? LISTED_STATUSES.map(
          (status) => `/api/companies/${companyId}/issues?status=${status}&limit=${FIRST_ISSUES}&count=true`,
        )
      : [],
  'issues/:issueRef': async ({ companyId, params, get }) => {
    const detail = `/api/issues/${params.issueRef}`
    const found = await get(detail)
    if (!found) return []
    const { id }: { id: string } = JSON.parse(found.text)
    return [
      detail,
      `/api/issues/${id}/interactions?status=pending`,
      `/api/issues/${id}/approvals`,
      `/api/companies/${companyId}/issues?parentId=${id}`,
      `/api/issues/${id}/documents`,
      `/api/issues/${id}/attachments`,
      `/api/issues/${id}/comments`,
      `/api/issues/${id}/runs?limit=200`,
      `/api/issues/${id}/activity?limit=200`,
    ]
  },
  runs: ({ companyId, query }) => (query.size === 0 ? [`/api/companies/${companyId}/runs?limit=100`] : []),
  'runs/:runId': ({ params }) => [`/api/runs/${params.runId}`],
  org: ({ companyId }) => [`/api/companies/${companyId}/org`],
  routines: ({ companyId }) => [`/api/companies/${companyId}/routines`],
  skills: ({ companyId }) => [`/api/companies/${companyId}/skills`],
}
