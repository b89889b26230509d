import plus from 'lucide-static/icons/plus.svg'
import { Button } from '../../kit/button.tsx'
import { request } from '../../state/api.ts'
import { companyIdNow, issues, may } from '../../state/company.ts'
import { openNewIssue } from '../../state/dialogs.ts'
import { useQuery } from '../../state/query.ts'
import type { Issue } from '../../state/types.ts'
import { IssueRow } from '../issues/issue-row.tsx'

/** The sub-issues of an issue, with the number of completed ones. */
export function SubIssues({ issue }: { issue: Issue }) {
  const query = useQuery(
    `children/${issue.id}`,
    async () => {
      const rows = await request('GET /api/companies/:companyId/issues', {
        params: { companyId: companyIdNow() },
        query: { parentId: issue.id },
      })
      issues.put(...rows)
      return rows.map(({ id }) => id)
    },
    ({ type }) => type === 'issue.created',
  )
  const rows = (query.data.value ?? []).flatMap((id) => issues.get(id) ?? [])
  const done = rows.filter(({ status }) => status === 'done' || status === 'cancelled').length
  if (rows.length === 0) return null
  return (
    <section class="rows" aria-label="Sub-issues">
      <header class="section-head">
        <h3>Sub-issues</h3>
        <span class="num">
          {done} of {rows.length} done
        </span>
        <progress max={rows.length} value={done} aria-label="Sub-issues that are done" />
        {may('member') && (
          <span class="section-end">
            <Button
              kind="quiet"
              icon={plus}
              label="New sub-issue"
              onClick={() => openNewIssue({ parentId: issue.id, projectId: issue.projectId ?? undefined })}
            />
          </span>
        )}
      </header>
      {rows
        .toSorted((a, b) => (a.id < b.id ? -1 : 1))
        .map(({ id }) => (
          <IssueRow key={id} id={id} hasProject={false} />
        ))}
    </section>
  )
}
