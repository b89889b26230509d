import { AgentName } from '../../kit/avatar.tsx'
import { Button } from '../../kit/button.tsx'
import { Chart } from '../../kit/chart.tsx'
import { money, number, plural } from '../../kit/format.ts'
import { Page } from '../../kit/page.tsx'
import { Loaded, Skeleton } from '../../kit/states.tsx'
import { type IssueStatus, STATUS_NAME, StatusGlyph } from '../../kit/status.tsx'
import { Table } from '../../kit/table.tsx'
import { Ago } from '../../kit/time.tsx'
import { request } from '../../state/api.ts'
import { agents, company, companyIdNow, liveRuns, pathTo } from '../../state/company.ts'
import { useQuery } from '../../state/query.ts'
import type { Dashboard } from '../../state/types.ts'
import { RunRow } from '../runs/runs-page.tsx'

const SHOWN: readonly IssueStatus[] = ['in_progress', 'in_review', 'blocked', 'todo', 'backlog', 'done']

/** The dashboard of the company: agents at work, open issues and costs. */
export function DashboardPage() {
  const found = company.value
  const query = useQuery(
    found && `dashboard/${found.id}`,
    async () => {
      const params = { companyId: companyIdNow() }
      const dashboard = await request('GET /api/companies/:companyId/dashboard', { params })
      const from = `${dashboard.runActivity[0]?.date ?? new Date().toISOString().slice(0, 10)}T00:00:00Z`
      const byDay = await request('GET /api/companies/:companyId/costs/by-day', { params, query: { from } })
      return { dashboard, byDay }
    },
    ({ type, data }) => type.startsWith('run.') || data.entityType === 'issue',
  )
  return (
    <Page title="Dashboard">
      <Loaded query={query} skeleton={<Skeleton rows={10} height={40} />}>
        {({ dashboard, byDay }) => {
          const days = dashboard.runActivity.map(({ date }) => date)
          return (
            <div class="dashboard">
              <Now dashboard={dashboard} />
              <section>
                <div class="section-head">
                  <h2>Issues</h2>
                </div>
                <div class="counts">
                  {SHOWN.map((status) => (
                    <a key={status} href={`${pathTo('issues')}?status=${status}`}>
                      <StatusGlyph status={status} />
                      <b class="figure">{number(dashboard.tasks.byStatus[status])}</b>
                      <span class="note">{STATUS_NAME[status]}</span>
                    </a>
                  ))}
                </div>
              </section>
              <div class="charts">
                <Chart
                  label="Spend by day"
                  days={days}
                  bars={[
                    {
                      label: 'Spent',
                      color: '--accent',
                      values: days.map((day) => byDay.find(({ date }) => date === day)?.costCents ?? 0),
                    },
                  ]}
                  format={money}
                />
                <Chart
                  label="Runs by day"
                  days={days}
                  bars={[
                    { label: 'Runs', color: '--run', values: dashboard.runActivity.map(({ total }) => total) },
                    { label: 'Failed', color: '--danger', values: dashboard.runActivity.map(({ failed }) => failed) },
                  ]}
                  format={(value) => number(Math.round(value * 10) / 10)}
                />
              </div>
              <Idle dashboard={dashboard} />
              <Stale dashboard={dashboard} />
            </div>
          )
        }}
      </Loaded>
    </Page>
  )
}

function Now({ dashboard }: { dashboard: Dashboard }) {
  const live = liveRuns.value
  const { costs, pendingApprovals } = dashboard
  const inError = agents.all.value.filter(({ status }) => status === 'error').length
  return (
    <>
      <div class="figures">
        <div>
          <span class="note">Working agents</span>
          <span class="figure">{number(live.length)}</span>
          <a class="note link" href={pathTo('agents')}>
            of {plural(dashboard.agents.active + dashboard.agents.paused + dashboard.agents.error, 'agent')}
            {inError > 0 && `, ${inError} in error`}
          </a>
        </div>
        <div>
          <span class="note">Open issues</span>
          <span class="figure">{number(dashboard.tasks.open)}</span>
          <span class="note">{number(dashboard.tasks.done)} done</span>
        </div>
        <div>
          <span class="note">Spent this month</span>
          <span class="figure">{money(costs.monthSpendCents)}</span>
          <a class="note link" href={pathTo('costs')}>
            {costs.monthBudgetCents > 0
              ? `${Math.round(costs.monthUtilizationPercent)} % of ${money(costs.monthBudgetCents)}`
              : 'without a budget'}
          </a>
        </div>
        <div>
          <span class="note">Approvals</span>
          <span class="figure">{number(pendingApprovals)}</span>
          <a class="note link" href={pathTo('approvals')}>
            {pendingApprovals === 0 ? 'nothing waits' : pendingApprovals === 1 ? 'waits for you' : 'wait for you'}
          </a>
        </div>
      </div>
      <section>
        <div class="section-head">
          <h2>Now running</h2>
          <span class="num">{number(live.length)}</span>
        </div>
        <div class="flush">
          {live.map((run) => (
            <RunRow key={run.id} run={run} />
          ))}
        </div>
        {live.length === 0 && (
          <p class="note">
            No live runs. An agent starts when work is assigned to it.{' '}
            <Button kind="quiet" href={pathTo('issues')}>
              Open the issues
            </Button>
          </p>
        )}
      </section>
    </>
  )
}

/** The costs of runs that changed nothing. */
function Idle({ dashboard }: { dashboard: Dashboard }) {
  const { runs, costCents, byAgent } = dashboard.idleRuns
  const rows = byAgent.filter(({ idleRuns }) => idleRuns > 0)
  if (runs === 0 || rows.length === 0) return null
  return (
    <section>
      <div class="section-head">
        <h2>Runs that changed nothing</h2>
        <span class="num">
          {plural(runs, 'run')}, {money(costCents)}
        </span>
      </div>
      <Table
        label="Runs that changed nothing, by agent"
        keyOf={({ agentId }) => agentId}
        rows={rows}
        columns={[
          {
            title: 'Agent',
            cell: ({ agentId, agentName }) => {
              const agent = agents.get(agentId)
              return agent ? (
                <a class="link" href={pathTo(`agents/${agent.urlKey}`)}>
                  <AgentName agent={agent} />
                </a>
              ) : (
                agentName
              )
            },
          },
          { title: 'Runs', isNumber: true, cell: (row) => number(row.runs) },
          { title: 'Changed nothing', isNumber: true, cell: (row) => number(row.idleRuns) },
          { title: 'Cost', isNumber: true, cell: (row) => money(row.costCents) },
        ]}
      />
    </section>
  )
}

function Stale({ dashboard }: { dashboard: Dashboard }) {
  const list = dashboard.staleTaskList
  if (list.length === 0) return null
  return (
    <section>
      <div class="section-head">
        <h2>Without a change for an hour or more</h2>
        <span class="num">{number(dashboard.staleTasks)}</span>
      </div>
      <ul class="lines">
        {list.map((issue) => (
          <li key={issue.id}>
            <StatusGlyph status="in_progress" />
            <a class="link clip" href={pathTo(`issues/${issue.identifier}`)}>
              <span class="id">{issue.identifier}</span> {issue.title}
            </a>
            <span class="note">{issue.assigneeName}</span>
            <span class="when">
              <Ago at={issue.updatedAt} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
