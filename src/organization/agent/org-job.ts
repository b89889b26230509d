import type { ReadJob } from '../../platform/database/reader.ts'
import { toOrg } from './org.ts'
import { drawOrg } from './org-svg.ts'
import { listOrgMembers } from './queries.ts'

/**
 * Returns the reporting tree of a company, as JSON or as an image. It runs in
 * the reader, because a tree of thousands of agents has megabytes.
 */
export const orgJob: ReadJob<{ companyId: string; format: 'json' | 'svg' }, string> = {
  name: 'agents.org',
  run(db, { companyId, format }) {
    const tops = toOrg(listOrgMembers(db, { companyId }))
    return format === 'json' ? JSON.stringify(tops) : drawOrg(tops)
  },
}
