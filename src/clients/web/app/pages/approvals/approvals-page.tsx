import { useSignal } from '@preact/signals'
import { useLocation } from 'preact-iso'
import { Button } from '../../kit/button.tsx'
import { Empty, Loaded, Skeleton } from '../../kit/states.tsx'
import { Ago } from '../../kit/time.tsx'
import { request } from '../../state/api.ts'
import { useCommands } from '../../state/commands.ts'
import { companyIdNow, may, nameOf, pathTo } from '../../state/company.ts'
import { useQuery } from '../../state/query.ts'
import type { Approval } from '../../state/types.ts'
import { SettingsPlace } from '../settings/place.tsx'
import { beginDecision, type Details, type Outcome } from './decide.ts'
import { DecisionButtons } from './decision.tsx'
import { ApprovalMeaning, approvalTitle } from './meaning.tsx'

const STATES: Record<Approval['status'], string> = {
  pending: 'Pending',
  revision_requested: 'Revision requested',
  approved: 'Approved',
  rejected: 'Rejected',
  cancelled: 'Withdrawn',
}

/** The approvals of the company: pending ones first, then decided ones. */
export function ApprovalsPage() {
  const { query: address, route } = useLocation()
  const isAll = address.show === 'all'
  const query = useQuery(
    'approvals',
    () =>
      request('GET /api/companies/:companyId/approvals', {
        params: { companyId: companyIdNow() },
        query: { limit: 200 },
      }),
    ({ data }) => data.entityType === 'approval',
  )
  const focused = useSignal<string | undefined>(undefined)
  const displayed = (query.data.value ?? []).filter(
    ({ status }) => isAll || status === 'pending' || status === 'revision_requested',
  )
  const begin = (outcome: Outcome, details?: Details) => () => {
    const approval = current()
    if (approval?.status === 'pending' && may('admin')) beginDecision(approval, outcome, details)
  }
  const current = () =>
    displayed.find(({ id }) => id === focused.peek()) ?? displayed.find(({ status }) => status === 'pending')
  const move = (by: number) => {
    const index = displayed.findIndex(({ id }) => id === focused.peek())
    const next = displayed[Math.min(Math.max(index + by, 0), displayed.length - 1)]
    if (next) document.getElementById(`approval-${next.id}`)?.focus()
  }
  const key = (keys: string, title: string, run: () => void) => ({
    id: `approvals.${keys}`,
    title,
    keys,
    group: 'Approvals',
    isKeyOnly: true,
    run,
  })
  useCommands([
    key('j', 'Next approval', () => move(1)),
    key('k', 'Previous approval', () => move(-1)),
    key('a', 'Approve', begin('approved')),
    key('shift+a', 'Always allow the folder', begin('approved', { allow: 'always' })),
    key('r', 'Reject', begin('rejected')),
    key('v', 'Request a revision', begin('revision_requested')),
  ])
  return (
    <SettingsPlace
      here="approvals"
      actions={
        <span class="switch">
          <Button kind="quiet" isPressed={!isAll} onClick={() => route(pathTo('approvals'), true)}>
            Open
          </Button>
          <Button kind="quiet" isPressed={isAll} onClick={() => route(pathTo('approvals?show=all'), true)}>
            All
          </Button>
        </span>
      }
    >
      <Loaded query={query} skeleton={<Skeleton rows={3} height={120} />}>
        {(all) =>
          displayed.length === 0 ? (
            <Empty
              title="No pending approvals."
              action={
                all.length > 0 ? (
                  <Button href={pathTo('approvals?show=all')}>Show decided approvals</Button>
                ) : (
                  <Button href={pathTo('settings')}>Choose what needs approval</Button>
                )
              }
            />
          ) : (
            <div class="approvals">
              {displayed.map((approval) => (
                <article
                  key={approval.id}
                  id={`approval-${approval.id}`}
                  class="approval"
                  tabIndex={-1}
                  aria-label={approvalTitle(approval)}
                  onFocusIn={() => {
                    focused.value = approval.id
                  }}
                >
                  <header>
                    <h2>{approvalTitle(approval)}</h2>
                    <span class="note">
                      requested by{' '}
                      {nameOf({ agentId: approval.requestedByAgentId, userId: approval.requestedByUserId })}{' '}
                      <Ago at={approval.createdAt} />
                    </span>
                  </header>
                  <ApprovalMeaning approval={approval} />
                  <footer>
                    {approval.status === 'pending' && may('admin') ? (
                      <DecisionButtons approval={approval} hasKeys />
                    ) : (
                      <span class="note">
                        {STATES[approval.status]}
                        {approval.decidedAt && (
                          <>
                            {' by '}
                            {nameOf({ userId: approval.decidedByUserId })} <Ago at={approval.decidedAt} />
                          </>
                        )}
                        {approval.decisionNote && `: ${approval.decisionNote}`}
                        {approval.status === 'pending' && '. An admin decides it.'}
                      </span>
                    )}
                  </footer>
                </article>
              ))}
            </div>
          )
        }
      </Loaded>
    </SettingsPlace>
  )
}
