import { confirm } from '../../kit/dialog.tsx'
import { plural } from '../../kit/format.ts'
import { act } from '../../state/act.ts'
import { request } from '../../state/api.ts'
import { agents, issues, liveRuns } from '../../state/company.ts'
import { toast } from '../../state/toasts.ts'
import type { Agent } from '../../state/types.ts'

const paramsOf = (agent: Pick<Agent, 'id'>) => ({ params: { agentId: agent.id } })

/** Stores the agent that the server returned. */
const keep = ({ chainOfCommand, ...agent }: Agent & { chainOfCommand?: unknown }) => agents.put(agent as Agent)

/** Queues a run of an agent now. */
export async function runAgent(agent: Agent): Promise<void> {
  const done = await act(() => request('POST /api/agents/:agentId/heartbeat/invoke', paramsOf(agent)))
  if (done) toast(`${agent.name} runs as soon as there is room.`)
}

export async function pauseAgent(agent: Agent): Promise<void> {
  const live = liveRuns.peek().filter((run) => run.agentId === agent.id).length
  if (live > 0) {
    const isSure = await confirm({
      title: `Pause ${agent.name}?`,
      text: `This stops ${plural(live, 'live run')}. Its queued work is kept.`,
      action: 'Pause',
    })
    if (!isSure) return
  }
  const changed = await act(
    () => request('POST /api/agents/:agentId/pause', paramsOf(agent)),
    () => agents.patch(agent.id, { status: 'paused', pauseReason: 'manual' }),
  )
  if (!changed) return
  keep(changed)
  toast(`${agent.name} is paused.`, { undo: () => void resumeAgent(agent) })
}

export async function resumeAgent(agent: Agent): Promise<void> {
  const changed = await act(
    () => request('POST /api/agents/:agentId/resume', paramsOf(agent)),
    () => agents.patch(agent.id, { status: 'idle', pauseReason: null }),
  )
  if (!changed) return
  keep(changed)
  toast(`${agent.name} is resumed.`)
}

export async function terminateAgent(agent: Agent): Promise<void> {
  const live = liveRuns.peek().filter((run) => run.agentId === agent.id).length
  const held = issues.all
    .peek()
    .filter(
      ({ assigneeAgentId, status }) => assigneeAgentId === agent.id && status !== 'done' && status !== 'cancelled',
    ).length
  const isSure = await confirm({
    title: `Terminate ${agent.name}?`,
    text: `This stops ${plural(live, 'run')}, returns ${plural(held, 'open issue')} and revokes its keys. It cannot be undone.`,
    action: 'Terminate',
  })
  if (!isSure) return
  const changed = await act(() => request('POST /api/agents/:agentId/terminate', paramsOf(agent)))
  if (changed) keep(changed)
}
