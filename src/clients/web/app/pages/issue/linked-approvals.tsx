import { words } from '../../kit/format.ts'
import { request } from '../../state/api.ts'
import { approvals } from '../../state/inbox.ts'
import { useQuery } from '../../state/query.ts'
import type { Issue } from '../../state/types.ts'
import { DecisionButtons } from '../approvals/decision.tsx'
import { ApprovalMeaning, approvalTitle } from '../approvals/meaning.tsx'

/** The approvals that are linked to an issue. A pending one can be decided here. */
export function LinkedApprovals({ issue }: { issue: Issue }) {
  const query = useQuery(
    `issue-approvals/${issue.id}`,
    async () => {
      const list = await request('GET /api/issues/:issueId/approvals', { params: { issueId: issue.id } })
      approvals.put(...list)
      return list.map(({ id }) => id)
    },
    ({ data }) => data.entityType === 'approval' || data.entityId === issue.id,
  )
  const list = (query.data.value ?? []).flatMap((id) => approvals.get(id) ?? [])
  if (list.length === 0) return null
  return (
    <section class="rows linked-approvals" aria-label="Approvals">
      {list.map((approval) => (
        <article key={approval.id} class={approval.status === 'pending' ? 'pending' : ''}>
          <header>
            <b>{approvalTitle(approval)}</b>
            {approval.status !== 'pending' && <span class="tag">{words(approval.status)}</span>}
          </header>
          {approval.status === 'pending' && (
            <>
              <ApprovalMeaning approval={approval} />
              <footer>
                <DecisionButtons approval={approval} />
              </footer>
            </>
          )}
          {approval.decisionNote && <p class="note">{approval.decisionNote}</p>}
        </article>
      ))}
    </section>
  )
}
