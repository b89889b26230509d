import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { placeOf } from '../../../../run-place.ts'
import { AgentName, Avatar } from '../../kit/avatar.tsx'
import { Button } from '../../kit/button.tsx'
import { money, words } from '../../kit/format.ts'
import { List } from '../../kit/list.tsx'
import { Page } from '../../kit/page.tsx'
import { Empty, Loaded, Skeleton } from '../../kit/states.tsx'
import { RunGlyph } from '../../kit/status.tsx'
import { Ago, Took } from '../../kit/time.tsx'
import { act } from '../../state/act.ts'
import { requestPage } from '../../state/api.ts'
import { agents, companyIdNow, ensureIssue, isLive, issues, pathTo, runs } from '../../state/company.ts'
import { useQuery } from '../../state/query.ts'
import type { Run } from '../../state/types.ts'
import { Chip } from '../issues/choices.tsx'
import { STATUS } from '../run/run-page.tsx'

/** The page size. */
const PAGE = 100
const ANY = 'any'

/** The runs of the company, newest first, with live runs at the top. The address contains the filter. */
export function RunsPage() {
  const { query: address, route } = useLocation()
  const { agent: agentId, status } = address
  const filter = { agentId: agentId || undefined, status: status || undefined }
  const query = useQuery(
    `runs/${agentId ?? ''}/${status ?? ''}`,
    async () => {
      const page = await load(filter, undefined)
      return { ids: page.items.map(({ id }) => id), next: page.next }
    },
    ({ type }) => type.startsWith('run.'),
  )
  const change = (name: string, value: string) => {
    const next = new URLSearchParams(address)
    if (value === ANY) next.delete(name)
    else next.set(name, value)
    route(`${pathTo('runs')}${next.size > 0 ? `?${next}` : ''}`, true)
  }
  return (
    <Page
      title="Runs"
      layout="list"
      tools={
        <div class="filters">
          <Chip
            label="Agent"
            isOn={!!agentId}
            value={agentId ?? ANY}
            options={[
              { value: ANY, label: 'Any agent' },
              ...agents.all.value.map((one) => ({
                value: one.id,
                label: one.name,
                icon: <Avatar name={one.name} status={one.status} />,
              })),
            ]}
            onPick={(value) => change('agent', value)}
          >
            Agent: {agents.get(agentId)?.name ?? 'any'}
          </Chip>
          <Chip
            label="Status"
            isOn={!!status}
            value={status ?? ANY}
            options={[
              { value: ANY, label: 'Any status' },
              ...(Object.keys(STATUS) as Run['status'][]).map((value) => ({
                value,
                label: STATUS[value],
                icon: <RunGlyph status={value} />,
              })),
            ]}
            onPick={(value) => change('status', value)}
          >
            Status: {STATUS[status as Run['status']] ?? 'any'}
          </Chip>
        </div>
      }
    >
      <Loaded query={query} skeleton={<Skeleton rows={16} />}>
        {({ ids, next }) =>
          ids.length === 0 ? (
            <Nothing isFiltered={!!agentId || !!status} onClear={() => route(pathTo('runs'), true)} />
          ) : (
            <Rows key={`${agentId}/${status}`} filter={filter} ids={ids} next={next} />
          )
        }
      </Loaded>
    </Page>
  )
}

async function load(filter: { agentId: string | undefined; status: string | undefined }, after: string | undefined) {
  const page = await requestPage('GET /api/companies/:companyId/runs', {
    params: { companyId: companyIdNow() },
    query: { ...filter, after, limit: PAGE },
  })
  runs.put(...page.items)
  return page
}

function Rows({
  filter,
  ids,
  next,
}: {
  filter: { agentId: string | undefined; status: string | undefined }
  ids: readonly string[]
  next: string | undefined
}) {
  const older = useSignal<readonly string[]>([])
  const cursor = useSignal<string | undefined | null>(null)
  const isLoading = useSignal(false)
  const more = async () => {
    const after = cursor.peek() === null ? next : cursor.peek()
    if (!after || isLoading.peek()) return
    isLoading.value = true
    const page = await act(() => load(filter, after))
    isLoading.value = false
    if (!page) return
    older.value = [...older.peek(), ...page.items.map(({ id }) => id)]
    cursor.value = page.next
  }
  const all = [...new Set([...ids, ...older.value])].flatMap((id) => runs.get(id) ?? [])
  const rows = [...all.filter(isLive), ...all.filter((run) => !isLive(run))]
  return (
    <List id="runs" label="Runs" rows={rows} keyOf={({ id }) => id} onEnd={() => void more()}>
      {(run) => <RunRow run={run} />}
    </List>
  )
}

/** A run as one line of a list. */
export function RunRow({ run, hasAgent = true }: { run: Run; hasAgent?: boolean }) {
  const agent = agents.get(run.agentId)
  const issue = issues.get(run.issueId)
  useEffect(() => {
    ensureIssue(run.issueId)
  }, [run.issueId])
  return (
    <div class="runs-row">
      <RunGlyph status={run.status} />
      {hasAgent && <span class="runs-agent">{agent ? <AgentName agent={agent} /> : 'An agent'}</span>}
      <a class="row-link clip" href={pathTo(`runs/${run.id}`)}>
        {issue ? (
          <>
            <span class="id">{issue.identifier}</span> {issue.title}
          </>
        ) : (
          (run.summary ?? words(run.wakeReason))
        )}
      </a>
      {isLive(run) && <span class="live-mark">live</span>}
      <span class="row-end">
        {run.error ? (
          <span class="error clip" title={run.error}>
            {run.error}
          </span>
        ) : (
          <span class="note clip" title={placeOf(run) ?? undefined}>
            {(isLive(run) && placeOf(run)) || (run.idle ? 'changed nothing' : words(run.wakeReason))}
          </span>
        )}
        <span class="num">{run.startedAt && <Took from={run.startedAt} to={run.finishedAt} />}</span>
        <span class="num">{run.costCents > 0 ? money(run.costCents) : ''}</span>
        <span class="when">
          <Ago at={run.startedAt ?? run.createdAt} />
        </span>
      </span>
    </div>
  )
}

function Nothing({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  return isFiltered ? (
    <Empty title="No run matches this filter." action={<Button onClick={onClear}>Clear the filter</Button>} />
  ) : (
    <Empty
      title="No runs yet."
      action={
        <Button kind="primary" href={pathTo('issues')}>
          Open the issues
        </Button>
      }
    >
      An agent runs when an issue is assigned to it, when it is mentioned, and when its timer is due.
    </Empty>
  )
}
