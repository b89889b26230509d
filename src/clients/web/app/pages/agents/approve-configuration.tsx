import { confirm } from '../../kit/dialog.tsx'
import { act } from '../../state/act.ts'
import { request } from '../../state/api.ts'
import { agents } from '../../state/company.ts'
import { invalidate } from '../../state/query.ts'
import { toast } from '../../state/toasts.ts'
import type { Agent } from '../../state/types.ts'

/**
 * Approves a configuration that an agent or a package set. The dialog displays exactly the
 * configuration that is approved.
 */
export async function approveConfiguration({ id: agentId, name }: Agent): Promise<void> {
  const params = { agentId }
  const seen = await act(async () => {
    // The revision first: if the configuration changes in between, the server refuses the approval.
    const [latest] = await request('GET /api/agents/:agentId/config-revisions', { params, query: { limit: 1 } })
    return { latest, configuration: await request('GET /api/agents/:agentId/configuration', { params }) }
  })
  if (!seen?.latest) return
  const { latest, configuration } = seen
  const isSure = await confirm({
    title: `Approve the configuration of ${name}?`,
    text: (
      <>
        <p>Its runs will no longer be restricted, and its paths will not be checked.</p>
        <pre class="quoted" tabIndex={0}>
          {JSON.stringify(configuration, null, 2)}
        </pre>
      </>
    ),
    action: 'Approve',
    tone: 'primary',
  })
  if (!isSure) return
  const changed = await act(() =>
    request('POST /api/agents/:agentId/approve-configuration', { params, body: { revisionId: latest.id } }),
  )
  if (!changed) return
  const { chainOfCommand, ...agent } = changed
  agents.put(agent)
  invalidate(`revisions/${agentId}`)
  toast(`The configuration of ${name} is approved.`)
}
