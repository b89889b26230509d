import arrowLeft from 'lucide-static/icons/chevron-left.svg'
import play from 'lucide-static/icons/play.svg'
import { useLocation, useRoute } from 'preact-iso'
import { Avatar } from '../../kit/avatar.tsx'
import { Button } from '../../kit/button.tsx'
import { duration, money, words } from '../../kit/format.ts'
import { Page } from '../../kit/page.tsx'
import { Empty, Loaded, Skeleton } from '../../kit/states.tsx'
import { Ago } from '../../kit/time.tsx'
import { adapterName, programOf } from '../../state/adapters.ts'
import { request } from '../../state/api.ts'
import { type Command, useCommands } from '../../state/commands.ts'
import { agents, companyIdNow, isLoaded, issues, liveRuns, may, nameOf, pathTo, runs } from '../../state/company.ts'
import { openRehearsal } from '../../state/dialogs.ts'
import { useQuery } from '../../state/query.ts'
import type { Agent } from '../../state/types.ts'
import { AgentBudget } from '../costs/budget.tsx'
import { RunLine } from '../issue/thread.tsx'
import { IssueRow } from '../issues/issue-row.tsx'
import { pauseAgent, resumeAgent, runAgent, terminateAgent } from './actions.ts'
import { AgentMenu } from './agents-page.tsx'
import { approveConfiguration } from './approve-configuration.tsx'
import { ConfigurationForm } from './configuration-form.tsx'
import { Keys } from './keys.tsx'
import { Revisions } from './revisions.tsx'
import { Skills } from './skills.tsx'
import { AgentWork, STATE_NAME, stateOf } from './state.tsx'

const TABS = ['overview', 'runs', 'configuration', 'revisions', 'keys'] as const
type Tab = (typeof TABS)[number]

/** The page of an agent: its issues, its runs, its configuration and its budget. */
export function AgentPage() {
  const { agentRef = '' } = useRoute().params
  const { query, route } = useLocation()
  const tab = TABS.find((one) => one === query.tab) ?? 'overview'
  const agent = agents.all.value.find(({ urlKey, id }) => urlKey === agentRef || id === agentRef)
  useCommands(agent ? commandsOf(agent, () => route(pathTo('agents'))) : [])
  if (!agent) {
    return (
      <Page title="Agent">
        {isLoaded.value ? (
          <Empty title="There is no such agent." action={<Button href={pathTo('agents')}>All agents</Button>} />
        ) : (
          <Skeleton />
        )}
      </Page>
    )
  }
  return (
    <Page
      title={agent.name}
      trail={<Button kind="quiet" icon={arrowLeft} label="Back to the agents" href={pathTo('agents')} />}
      actions={<Actions agent={agent} />}
    >
      <div class="agent">
        <header class="agent-head">
          <Avatar name={agent.name} status={agent.status} size={40} />
          <div>
            <h2>{agent.name}</h2>
            <p class="note">
              {agent.title ?? words(agent.role)}
              {agent.reportsTo && ` · reports to ${nameOf({ agentId: agent.reportsTo })}`}
              {` · ${programOf(agent) ?? adapterName(agent.adapterType)}`}
            </p>
            <p class="agent-state">
              <b>{STATE_NAME[stateOf(agent)]}</b> <AgentWork agent={agent} />
            </p>
          </div>
        </header>
        <Restricted agent={agent} />
        <nav class="tabs" aria-label="Parts of the agent">
          {TABS.filter((one) => one !== 'keys' || may('admin')).map((one) => (
            <a
              key={one}
              href={pathTo(`agents/${agent.urlKey}${one === 'overview' ? '' : `?tab=${one}`}`)}
              aria-current={one === tab ? 'page' : undefined}
            >
              {words(one)}
            </a>
          ))}
        </nav>
        <Content key={`${agent.id} ${tab}`} tab={tab} agent={agent} />
      </div>
    </Page>
  )
}

/** The commands of the agent, for the palette. */
function commandsOf(agent: Agent, back: () => void): Command[] {
  const command = (id: string, title: string, run: () => void, keys?: string): Command => ({
    id: `agent.${id}`,
    title: `${title} ${agent.name}`,
    group: 'Agent',
    run,
    ...(keys && { keys }),
  })
  return [
    { id: 'agent.back', title: 'Back to the agents', keys: 'Escape', group: 'Agent', isKeyOnly: true, run: back },
    ...(may('member')
      ? [
          command('run', 'Run', () => void runAgent(agent), 'shift+r'),
          command('rehearse', 'Rehearse', () => openRehearsal(agent)),
        ]
      : []),
    ...(may('admin')
      ? [
          agent.status === 'paused'
            ? command('resume', 'Resume', () => void resumeAgent(agent), 'shift+p')
            : command('pause', 'Pause', () => void pauseAgent(agent), 'shift+p'),
          command('terminate', 'Terminate', () => void terminateAgent(agent)),
        ]
      : []),
  ]
}

/** The reason why the runs of an agent are restricted, and the action that removes the restriction. */
function Restricted({ agent }: { agent: Agent }) {
  if (agent.status === 'pending_approval' || agent.status === 'terminated') return null
  if (agent.configApproved && agent.unapprovedPaths.length === 0) return null
  return (
    <p class="restricted">
      <span>
        {agent.configApproved
          ? `An agent set ${agent.unapprovedPaths.join(', ')}. These paths must be in allowed folders.`
          : 'Its configuration was set by an agent or a package. Until a person approves it, its runs are restricted.'}
      </span>
      {may('admin') ? (
        <Button onClick={() => void approveConfiguration(agent)}>Approve the configuration</Button>
      ) : (
        <span class="note">An admin can approve it.</span>
      )}
    </p>
  )
}

function Content({ tab, agent }: { tab: Tab; agent: Agent }) {
  switch (tab) {
    case 'overview':
      return <Overview agent={agent} />
    case 'runs':
      return <RunsOf agent={agent} limit={100} />
    case 'configuration':
      return <ConfigurationForm agent={agent} />
    case 'revisions':
      return <Revisions agent={agent} />
    case 'keys':
      return <Keys agent={agent} />
  }
}

function Overview({ agent }: { agent: Agent }) {
  const query = useQuery(`agent-issues/${agent.id}`, async () => {
    const rows = await request('GET /api/companies/:companyId/issues', {
      params: { companyId: companyIdNow() },
      query: { assigneeAgentId: agent.id, status: 'in_progress,in_review,blocked,todo', limit: 50 },
    })
    issues.put(...rows)
    return rows.map(({ id }) => id)
  })
  const queue = issues.all.value.filter(
    ({ assigneeAgentId, status }) =>
      assigneeAgentId === agent.id && status !== 'done' && status !== 'cancelled' && status !== 'backlog',
  )
  const { heartbeat } = agent.runtimeConfig
  return (
    <div class="agent-parts">
      {agent.capabilities && <p>{agent.capabilities}</p>}
      <section aria-label="Spend and schedule">
        <dl class="agent-facts">
          <dt>This month</dt>
          <dd>{money(agent.spentMonthlyCents)}</dd>
          <dt>Monthly budget</dt>
          <dd>
            <AgentBudget agent={agent} />
          </dd>
          <dt>Wakes</dt>
          <dd>
            {heartbeat?.wakeOnDemand === false ? '' : 'For assignments and mentions'}
            {heartbeat?.enabled
              ? `${heartbeat.wakeOnDemand === false ? 'E' : ', and e'}very ${duration((heartbeat.intervalSec ?? 3_600) * 1_000)}`
              : ''}
          </dd>
          {agent.runtimeConfig.placement !== undefined && (
            <>
              <dt>Runs in</dt>
              <dd>
                {agent.runtimeConfig.placement === 'local'
                  ? 'The machine of the server'
                  : agent.runtimeConfig.placement}
              </dd>
            </>
          )}
          <dt>Skills</dt>
          <dd>
            <Skills agent={agent} />
          </dd>
          {agent.lastHeartbeatAt && (
            <>
              <dt>Last run</dt>
              <dd>
                <Ago at={agent.lastHeartbeatAt} />
              </dd>
            </>
          )}
        </dl>
      </section>
      <section aria-label="Queue">
        <header class="section-head">
          <h3>Queue</h3>
          <span class="num">{queue.length}</span>
        </header>
        <Loaded query={query} skeleton={<Skeleton rows={3} />}>
          {() =>
            queue.length === 0 ? (
              <p class="note">Nothing is assigned to {agent.name}.</p>
            ) : (
              <>
                <Waits
                  agent={agent}
                  isNeeded={queue.some(({ status }) => status === 'todo' || status === 'in_progress')}
                />
                {queue.map(({ id }) => (
                  <IssueRow key={id} id={id} />
                ))}
              </>
            )
          }
        </Loaded>
      </section>
      <section aria-label="Latest runs">
        <header class="section-head">
          <h3>Latest runs</h3>
        </header>
        <RunsOf agent={agent} limit={8} />
      </section>
    </div>
  )
}

/** Why an agent with work does not run: a limit of live runs, its placement, a delay. Its state names the other causes. */
function Waits({ agent, isNeeded }: { agent: Agent; isNeeded: boolean }) {
  const isIdle = agent.status === 'idle' && !liveRuns.value.some(({ agentId }) => agentId === agent.id)
  const query = useQuery(
    isNeeded && isIdle && may('member') ? `waits/${agent.id}` : undefined,
    () => request('POST /api/agents/:agentId/rehearse', { params: { agentId: agent.id } }),
    ({ type, data }) => type.startsWith('run.') || data.entityId === agent.id,
  )
  const gates = query.data.value?.gates ?? []
  if (!isIdle || gates.length === 0) return null
  return (
    <ul class="waits">
      {gates.map(({ code, message }) => (
        <li key={code} class="warn">
          {message}
        </li>
      ))}
    </ul>
  )
}

function RunsOf({ agent, limit }: { agent: Agent; limit: number }) {
  const query = useQuery(
    `agent-runs/${agent.id}/${limit}`,
    async () => {
      const rows = await request('GET /api/companies/:companyId/runs', {
        params: { companyId: companyIdNow() },
        query: { agentId: agent.id, limit },
      })
      runs.put(...rows)
      return rows.map(({ id }) => id)
    },
    ({ type, data }) => type.startsWith('run.') && data.agentId === agent.id,
  )
  return (
    <Loaded query={query} skeleton={<Skeleton rows={4} />}>
      {(ids) =>
        ids.length === 0 ? (
          <p class="note">{agent.name} has not run yet.</p>
        ) : (
          ids.map((id) => {
            const run = runs.get(id)
            return run && <RunLine key={id} run={run} />
          })
        )
      }
    </Loaded>
  )
}

function Actions({ agent }: { agent: Agent }) {
  if (!may('member')) return null
  return (
    <>
      <AgentMenu agent={agent} />
      {may('admin') &&
        (agent.status === 'paused' ? (
          <Button onClick={() => void resumeAgent(agent)}>Resume</Button>
        ) : (
          <Button onClick={() => void pauseAgent(agent)}>Pause</Button>
        ))}
      <Button kind="primary" icon={play} onClick={() => void runAgent(agent)}>
        Run now
      </Button>
    </>
  )
}
