import { useSignal } from '@preact/signals'
import chevron from 'lucide-static/icons/chevron-right.svg'
import { Button } from '../../kit/button.tsx'
import { confirm } from '../../kit/dialog.tsx'
import { Diff } from '../../kit/diff.tsx'
import { words } from '../../kit/format.ts'
import { Icon } from '../../kit/icon.tsx'
import { Loaded } from '../../kit/states.tsx'
import { Ago } from '../../kit/time.tsx'
import { act } from '../../state/act.ts'
import { request } from '../../state/api.ts'
import { may, nameOf } from '../../state/company.ts'
import { useQuery } from '../../state/query.ts'
import { toast } from '../../state/toasts.ts'
import type { Agent } from '../../state/types.ts'

/** The revisions of an agent's configuration. Each is displayed as a diff to the previous one. */
export function Revisions({ agent }: { agent: Agent }) {
  const params = { agentId: agent.id }
  const opened = useSignal<string | undefined>(undefined)
  const query = useQuery(
    `revisions/${agent.id}`,
    () => request('GET /api/agents/:agentId/config-revisions', { params }),
    ({ data }) => data.entityType === 'agent' && data.entityId === agent.id,
  )
  const rollBack = async (revisionId: string, at: string) => {
    const isSure = await confirm({
      title: `Roll back ${agent.name}?`,
      text: `This restores the configuration of ${new Date(at).toLocaleString()}. Live runs continue with the current one.`,
      action: 'Roll back',
      tone: 'primary',
    })
    if (!isSure) return
    const done = await act(() =>
      request('POST /api/agents/:agentId/config-revisions/:revisionId/rollback', { params: { ...params, revisionId } }),
    )
    if (!done) return
    toast('Rolled back.')
    void query.reload()
  }
  return (
    <Loaded query={query}>
      {(list) => (
        <div class="revisions">
          {list.map((one, index) => (
            <section key={one.id}>
              <div class="revision">
                <button
                  type="button"
                  aria-expanded={opened.value === one.id}
                  onClick={() => {
                    opened.value = opened.value === one.id ? undefined : one.id
                  }}
                >
                  <span class="fold">
                    <Icon svg={chevron} size={14} />
                  </span>
                  <b>{SOURCE[one.source] ?? words(one.source)}</b>
                  <span class="note">
                    {one.changedKeys.join(', ')} · by{' '}
                    {nameOf({ agentId: one.createdByAgentId, userId: one.createdByUserId })} ·{' '}
                    <Ago at={one.createdAt} />
                  </span>
                </button>
                {index > 0 && may('admin') && (
                  <Button onClick={() => void rollBack(one.id, one.createdAt)}>Roll back to this</Button>
                )}
              </div>
              {opened.value === one.id && (
                <Diff
                  before={one.beforeConfig ? JSON.stringify(one.beforeConfig, null, 2) : ''}
                  after={JSON.stringify(one.afterConfig, null, 2)}
                />
              )}
            </section>
          ))}
        </div>
      )}
    </Loaded>
  )
}

const SOURCE: Record<string, string> = { create: 'Created', hire: 'Hired', patch: 'Changed', rollback: 'Rolled back' }
