import arrowLeft from 'lucide-static/icons/chevron-left.svg'
import play from 'lucide-static/icons/play.svg'
import { useLocation, useRoute } from 'preact-iso'
import { Avatar } from '../../kit/avatar.tsx'
import { Button } from '../../kit/button.tsx'
import { money, words } from '../../kit/format.ts'
import { Page } from '../../kit/page.tsx'
import { Empty, Loaded, Skeleton } from '../../kit/states.tsx'
import { Ago } from '../../kit/time.tsx'
import { request } from '../../state/api.ts'
import { agents, companyIdNow, isLoaded, issues, may, nameOf, pathTo, runs } from '../../state/company.ts'
import { useQuery } from '../../state/query.ts'
import type { Agent } from '../../state/types.ts'
import { RunLine } from '../issue/thread.tsx'
import { IssueRow } from '../issues/issue-row.tsx'
import { pauseAgent, resumeAgent, runAgent } from './actions.ts'
import { AgentMenu } from './agents-page.tsx'
import { BudgetField } from './budget-field.tsx'
import { ConfigurationForm } from './configuration-form.tsx'
import { Keys } from './keys.tsx'
import { Revisions } from './revisions.tsx'
import { AgentState, STATE_NAME } from './state.tsx'

const TABS = ['overview', 'runs', 'configuration', 'revisions', 'keys'] as const
type Tab = (typeof TABS)[number]

/** One agent: what it does, its runs, how it is configured, and what it may spend. */
export function AgentPage() {
  const { agentRef = '' } = useRoute().params
  const { query } = useLocation()
  const tab = TABS.find((one) => one === query.tab) ?? 'overview'
  const agent = agents.all.value.find(({ urlKey, id }) => urlKey === agentRef || id === agentRef)
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
              {` · ${agent.adapterType}`}
            </p>
            <p class="agent-state">
              <b>{STATE_NAME[agent.status]}</b> <AgentState agent={agent} />
            </p>
          </div>
        </header>
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
          <dt>Budget a month</dt>
          <dd>
            <BudgetField agent={agent} />
          </dd>
          <dt>Wakes</dt>
          <dd>
            {heartbeat?.wakeOnDemand === false ? '' : 'For assignments and mentions'}
            {heartbeat?.enabled
              ? `${heartbeat.wakeOnDemand === false ? 'E' : ', and e'}very ${heartbeat.intervalSec ?? 3600} s`
              : ''}
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
              queue.map(({ id }) => <IssueRow key={id} id={id} />)
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
