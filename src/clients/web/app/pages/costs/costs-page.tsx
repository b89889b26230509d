import { useLocation } from 'preact-iso'
import { AgentName } from '../../kit/avatar.tsx'
import { Button } from '../../kit/button.tsx'
import { Chart } from '../../kit/chart.tsx'
import { money, number, plural, short } from '../../kit/format.ts'
import { Page } from '../../kit/page.tsx'
import { Empty, Loaded, Skeleton } from '../../kit/states.tsx'
import { type Column, Table } from '../../kit/table.tsx'
import { act } from '../../state/act.ts'
import { type Received, request } from '../../state/api.ts'
import { agents, companies, company, companyIdNow, pathTo } from '../../state/company.ts'
import { useQuery } from '../../state/query.ts'
import type { Agent } from '../../state/types.ts'
import { Chip } from '../issues/choices.tsx'
import { AgentBudget, Budget } from './budget.tsx'
import { daysOf, type Period, periods } from './period.ts'

const VIEWS = { agent: 'Agents', project: 'Projects', model: 'Models', issue: 'Issues' } as const
type View = keyof typeof VIEWS

/** The maximum number of rows of a breakdown. */
const ROWS = 100

const isCost = ({ type }: { type: string }) => type.startsWith('cost.') || type === 'run.finished'

/** The costs of the company, by day and by agent, project, model or issue. */
export function CostsPage() {
  const { query: address, route } = useLocation()
  const all = periods()
  const period = all.find(({ id }) => id === address.period) ?? all[0]!
  const view = ((address.by ?? '') in VIEWS ? address.by : 'agent') as View
  const change = (changed: Record<string, string>) =>
    route(`${pathTo('costs')}?${new URLSearchParams({ ...address, ...changed })}`, true)
  const found = company.value
  const query = useQuery(
    found && `costs/${found.id}/${period.id}`,
    async () => {
      const options = { params: { companyId: companyIdNow() }, query: { from: period.from, to: period.to } }
      const [summary, byDay] = await Promise.all([
        request('GET /api/companies/:companyId/costs/summary', options),
        request('GET /api/companies/:companyId/costs/by-day', options),
      ])
      return { summary, byDay }
    },
    isCost,
  )
  return (
    <Page
      title="Costs"
      tools={
        <Chip
          label="Period"
          value={period.id}
          options={all.map(({ id, title }) => ({ value: id, label: title }))}
          onPick={(id) => change({ period: id })}
        >
          {period.title}
        </Chip>
      }
    >
      <Loaded query={query} skeleton={<Skeleton rows={10} height={40} />}>
        {({ summary, byDay }) => (
          <div class="costs">
            <Figures summary={summary} isMonth={period.id === 'month'} />
            <Chart
              label="Spend by day"
              days={daysOf(period)}
              bars={[
                {
                  label: 'Spent',
                  color: '--accent',
                  values: daysOf(period).map((day) => byDay.find(({ date }) => date === day)?.costCents ?? 0),
                },
              ]}
              format={money}
            />
            <div class="tabs" role="tablist" aria-label="Costs by">
              {Object.entries(VIEWS).map(([id, title]) => (
                <button
                  key={id}
                  type="button"
                  role="tab"
                  aria-selected={view === id}
                  onClick={() => change({ by: id })}
                >
                  {title}
                </button>
              ))}
            </div>
            <Breakdown key={`${view}/${period.id}`} view={view} period={period} />
          </div>
        )}
      </Loaded>
    </Page>
  )
}

type Summary = Received<'GET /api/companies/:companyId/costs/summary'>

function Figures({ summary, isMonth }: { summary: Summary; isMonth: boolean }) {
  const found = company.value
  if (!found) return null
  const { budgetMonthlyCents: budget, spentMonthlyCents: spent } = found
  return (
    <div class="figures">
      <div>
        <span class="note">{isMonth ? 'Spent this month' : 'Spent in this period'}</span>
        <b class="figure">{money(isMonth ? spent : summary.costCents)}</b>
      </div>
      <div>
        <span class="note">Budget of {found.name} a month</span>
        <span class="figure">
          <Budget label={found.name} cents={budget} onSave={(cents) => void saveCompanyBudget(found.id, cents)} />
        </span>
        {budget > 0 && <Share spent={spent} budget={budget} />}
      </div>
      <div>
        <span class="note">Input tokens</span>
        <span class="figure">{short(summary.inputTokens + summary.cachedInputTokens)}</span>
        <span class="note">{short(summary.cachedInputTokens)} from a cache</span>
      </div>
      <div>
        <span class="note">Output tokens</span>
        <span class="figure">{short(summary.outputTokens)}</span>
        {summary.unpricedEventCount > 0 && (
          <span class="note">{plural(summary.unpricedEventCount, 'cost')} without a price</span>
        )}
      </div>
    </div>
  )
}

function Share({ spent, budget }: { spent: number; budget: number }) {
  const percent = Math.round((spent / budget) * 100)
  return (
    <span class={`note share${percent >= 100 ? ' error' : ''}`}>
      <progress value={Math.min(spent, budget)} max={budget} aria-label="Spent part of the budget" />
      {percent} % spent
    </span>
  )
}

interface Line {
  key: string
  name: preact.ComponentChildren
  costCents: number
  inputTokens: number
  cachedInputTokens: number
  outputTokens: number
  count: number
  agent?: Agent | undefined
}

async function loadLines(view: View, { from, to }: Period): Promise<Line[]> {
  const options = { params: { companyId: companyIdNow() }, query: { from, to, limit: ROWS } }
  if (view === 'agent') {
    const rows = await request('GET /api/companies/:companyId/costs/by-agent', options)
    return rows.map((row) => ({ ...row, key: row.agentId ?? '', name: row.agentName, count: row.runCount }))
  }
  if (view === 'project') {
    const rows = await request('GET /api/companies/:companyId/costs/by-project', options)
    return rows.map((row) => ({ ...row, key: row.projectId ?? '', name: row.projectName, count: row.eventCount }))
  }
  if (view === 'model') {
    const rows = await request('GET /api/companies/:companyId/costs/by-model', options)
    return rows.map((row) => ({
      ...row,
      key: `${row.provider}/${row.model}`,
      name: (
        <>
          {row.model} <span class="note">{row.provider}</span>
        </>
      ),
      count: row.eventCount,
    }))
  }
  const rows = await request('GET /api/companies/:companyId/costs/by-issue', options)
  return rows.map((row) => ({
    ...row,
    key: row.issueId ?? '',
    name: row.identifier && (
      <a class="link" href={pathTo(`issues/${row.identifier}`)}>
        <span class="id">{row.identifier}</span> {row.title}
      </a>
    ),
    count: row.eventCount,
  }))
}

const NONE: Record<View, string> = {
  agent: 'No agent',
  project: 'No project',
  model: 'No model',
  issue: 'No issue',
}

function Breakdown({ view, period }: { view: View; period: Period }) {
  const query = useQuery(`costs/${companyIdNow()}/${period.id}/${view}`, () => loadLines(view, period), isCost)
  return (
    <Loaded query={query} skeleton={<Skeleton rows={6} height={36} />}>
      {(found) => {
        // An agent without costs still has a budget.
        const idle: Line[] =
          view === 'agent'
            ? agents.all.value
                .filter(({ id, status }) => status !== 'terminated' && !found.some(({ key }) => key === id))
                .map(({ id, name }) => ({
                  key: id,
                  name,
                  costCents: 0,
                  inputTokens: 0,
                  cachedInputTokens: 0,
                  outputTokens: 0,
                  count: 0,
                }))
            : []
        const lines = [...found, ...idle]
        if (lines.length === 0)
          return (
            <Empty title="No costs in this period." action={<Button href={pathTo('runs')}>Show the runs</Button>} />
          )
        const sum = lines.reduce((total, { costCents }) => total + costCents, 0)
        return <Table label={`Costs by ${view}`} columns={columnsOf(view, sum)} rows={lines} keyOf={({ key }) => key} />
      }}
    </Loaded>
  )
}

function columnsOf(view: View, sum: number): Column<Line>[] {
  return [
    { title: VIEWS[view].slice(0, -1), cell: (line) => <Name line={line} view={view} /> },
    { title: 'Spent', isNumber: true, cell: ({ costCents }) => money(costCents) },
    {
      title: 'Share',
      isExtra: true,
      cell: ({ costCents }) => <progress value={costCents} max={Math.max(sum, 1)} aria-label="Share of the spend" />,
    },
    ...(view === 'agent'
      ? [{ title: 'Monthly budget', isNumber: true, cell: (line: Line) => <BudgetCell agentId={line.key} /> }]
      : []),
    {
      title: 'Input tokens',
      isNumber: true,
      isExtra: true,
      cell: (line) => short(line.inputTokens + line.cachedInputTokens),
    },
    { title: 'Written', isNumber: true, isExtra: true, cell: (line) => short(line.outputTokens) },
    { title: view === 'agent' ? 'Runs' : 'Costs', isNumber: true, isExtra: true, cell: ({ count }) => number(count) },
  ]
}

function Name({ line, view }: { line: Line; view: View }) {
  const agent = view === 'agent' ? agents.get(line.key) : undefined
  if (!agent) return <span class={line.name ? 'cost-name' : 'none'}>{line.name ?? NONE[view]}</span>
  return (
    <a class="link" href={pathTo(`agents/${agent.urlKey}`)}>
      <AgentName agent={agent} />
    </a>
  )
}

function BudgetCell({ agentId }: { agentId: string }) {
  const agent = agents.get(agentId)
  if (!agent) return null
  const { budgetMonthlyCents: budget, spentMonthlyCents: spent } = agent
  return (
    <span class="agent-budget">
      {budget > 0 && spent / budget >= 0.8 && (
        <span class={spent >= budget ? 'error' : 'warn'}>{Math.round((spent / budget) * 100)} %</span>
      )}
      <AgentBudget agent={agent} />
    </span>
  )
}

async function saveCompanyBudget(companyId: string, budgetMonthlyCents: number): Promise<void> {
  const saved = await act(
    () => request('PATCH /api/companies/:companyId/budgets', { params: { companyId }, body: { budgetMonthlyCents } }),
    () => companies.patch(companyId, { budgetMonthlyCents }),
  )
  if (saved) companies.put(saved)
}
