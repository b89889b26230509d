import plus from 'lucide-static/icons/plus.svg'
import { Button } from '../../kit/button.tsx'
import { number } from '../../kit/format.ts'
import { Loaded, Skeleton } from '../../kit/states.tsx'
import { OPEN } from '../../kit/status.tsx'
import { requestPage } from '../../state/api.ts'
import { companyIdNow, issues, may, pathTo } from '../../state/company.ts'
import { openNewIssue } from '../../state/dialogs.ts'
import { useQuery } from '../../state/query.ts'
import { IssueRow } from './issue-row.tsx'

type Of = { projectId: string } | { goalId: string }

/** The maximum number of issues. The list of issues contains all of them. */
const SHOWN = 50

/** The open issues of a project or a goal, with a link to all of them. */
export function IssuesOf({ of }: { of: Of }) {
  const [name, id] = Object.entries(of)[0]!
  const query = useQuery(
    `issues-of/${name}/${id}`,
    async () => {
      const page = await requestPage('GET /api/companies/:companyId/issues', {
        params: { companyId: companyIdNow() },
        query: { ...of, status: OPEN.join(), limit: SHOWN, count: 'true' },
      })
      issues.put(...page.items)
      return { ids: page.items.map((issue) => issue.id), total: page.total ?? page.items.length }
    },
    ({ data }) => data.entityType === 'issue',
  )
  const all = `${pathTo('issues')}?${name === 'projectId' ? 'project' : 'goal'}=${id}`
  return (
    <section class="rows" aria-label="Issues">
      <header class="section-head">
        <h3>Open issues</h3>
        <span class="num">{query.data.value && number(query.data.value.total)}</span>
        <span class="section-end">
          <Button kind="quiet" href={all}>
            Show all issues
          </Button>
          {may('member') && <Button kind="quiet" icon={plus} label="New issue" onClick={() => openNewIssue(of)} />}
        </span>
      </header>
      <Loaded query={query} skeleton={<Skeleton rows={3} />}>
        {({ ids, total }) => (
          <>
            {ids.map((one) => (
              <IssueRow key={one} id={one} hasProject={name !== 'projectId'} />
            ))}
            {ids.length === 0 && <p class="note">No open issues.</p>}
            {total > ids.length && (
              <p>
                <a class="link" href={all}>
                  {number(total - ids.length)} more
                </a>
              </p>
            )}
          </>
        )}
      </Loaded>
    </section>
  )
}
