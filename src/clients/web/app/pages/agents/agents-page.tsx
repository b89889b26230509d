import ellipsis from 'lucide-static/icons/ellipsis.svg'
import plus from 'lucide-static/icons/plus.svg'
import { Avatar } from '../../kit/avatar.tsx'
import { Button } from '../../kit/button.tsx'
import { words } from '../../kit/format.ts'
import { Icon } from '../../kit/icon.tsx'
import { List } from '../../kit/list.tsx'
import { Menu } from '../../kit/menu.tsx'
import { Page } from '../../kit/page.tsx'
import { Empty, Skeleton } from '../../kit/states.tsx'
import { useCommands } from '../../state/commands.ts'
import { agents, isLoaded, may, pathTo } from '../../state/company.ts'
import { openNewAgent, openRehearsal } from '../../state/dialogs.ts'
import type { Agent } from '../../state/types.ts'
import { pauseAgent, resumeAgent, runAgent, terminateAgent } from './actions.ts'
import { type AgentState, AgentWork, BudgetMeter, STATE_NAME, STATE_ORDER, stateOf } from './state.tsx'

type Row = { key: string } & ({ state: AgentState; count: number } | { agent: Agent })

/** The agents of the company, with their current work or the reason why they do not work. */
export function AgentsPage() {
  useCommands(
    may('admin')
      ? [{ id: 'agents.new', title: 'Hire an agent', keys: 'n', group: 'Agents', run: openNewAgent, isKeyOnly: true }]
      : [],
  )
  const all = agents.all.value.filter(({ status }) => status !== 'terminated')
  const groups = Map.groupBy(all, stateOf)
  const rows = STATE_ORDER.flatMap((state): Row[] => {
    const list = groups.get(state) ?? []
    if (list.length === 0) return []
    return [{ key: state, state, count: list.length }, ...list.map((agent): Row => ({ key: agent.id, agent }))]
  })
  return (
    <Page
      title="Agents"
      layout="list"
      actions={
        may('admin') && (
          <Button kind="primary" icon={plus} hint="n" onClick={openNewAgent}>
            Hire
          </Button>
        )
      }
    >
      {!isLoaded.value && <Skeleton />}
      {isLoaded.value && rows.length === 0 && (
        <Empty
          title="No agents yet."
          action={
            may('admin') && (
              <Button kind="primary" hint="n" onClick={openNewAgent}>
                Hire the first agent
              </Button>
            )
          }
        >
          An agent is a program on this machine that takes issues, works on them and reports.
        </Empty>
      )}
      {rows.length > 0 && (
        <List
          id="agents"
          label="Agents"
          rows={rows}
          keyOf={({ key }) => key}
          heightOf={(row) => ('agent' in row ? 44 : 36)}
          isItem={(row) => 'agent' in row}
        >
          {(row) =>
            'agent' in row ? (
              <AgentRow agent={row.agent} />
            ) : (
              <div class="group-head agents-head">
                <h2>{STATE_NAME[row.state]}</h2>
                <span class="num">{row.count}</span>
              </div>
            )
          }
        </List>
      )}
    </Page>
  )
}

function AgentRow({ agent }: { agent: Agent }) {
  return (
    <div class="agent-row">
      <Avatar name={agent.name} status={agent.status} size={24} />
      <span class="agent-name">
        <a class="row-link" href={pathTo(`agents/${agent.urlKey}`)}>
          {agent.name}
        </a>
        <span class="note clip">{agent.title ?? words(agent.role)}</span>
      </span>
      <AgentWork agent={agent} />
      <BudgetMeter agent={agent} />
      {may('member') && <AgentMenu agent={agent} />}
    </div>
  )
}

/** The actions on an agent that this person is permitted to perform. */
export function AgentMenu({ agent }: { agent: Agent }) {
  const isPaused = agent.status === 'paused'
  const items = [
    { label: 'Run now', run: () => void runAgent(agent) },
    { label: 'Rehearse…', note: 'without running', run: () => openRehearsal(agent) },
    ...(may('admin')
      ? [
          isPaused
            ? { label: 'Resume', run: () => void resumeAgent(agent) }
            : { label: 'Pause', run: () => void pauseAgent(agent) },
          { label: 'Terminate…', run: () => void terminateAgent(agent) },
        ]
      : []),
  ]
  return (
    <Menu label={`Actions for ${agent.name}`} items={items}>
      <Icon svg={ellipsis} />
    </Menu>
  )
}
