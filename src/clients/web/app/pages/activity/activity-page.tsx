import { useSignal } from '@preact/signals'
import cog from 'lucide-static/icons/cog.svg'
import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { Avatar } from '../../kit/avatar.tsx'
import { Button } from '../../kit/button.tsx'
import { number, words } from '../../kit/format.ts'
import { Icon } from '../../kit/icon.tsx'
import { List } from '../../kit/list.tsx'
import { Page } from '../../kit/page.tsx'
import { Empty, Loaded, Skeleton } from '../../kit/states.tsx'
import { Ago } from '../../kit/time.tsx'
import { act } from '../../state/act.ts'
import { requestPage } from '../../state/api.ts'
import { actorName, agents, companyIdNow, ensureIssue, pathTo } from '../../state/company.ts'
import { useQuery } from '../../state/query.ts'
import type { Activity } from '../../state/types.ts'
import { sentenceOf } from '../issue/sentences.tsx'
import { Chip } from '../issues/choices.tsx'
import { subjectOf, verbOf } from './say.ts'

const PAGE = 100
const ANY = 'any'

/** The types of entities that the filter offers. */
const NOUNS = ['issue', 'run', 'agent', 'approval', 'project', 'goal', 'routine', 'skill', 'secret', 'company']

interface Filter {
  agentId?: string
  entityType?: string
  runId?: string
  /** The actions that are excluded. */
  without?: string
}

/** The action of a timer that found no work. It is excluded by default, because it can be very frequent. */
const SKIPPED = 'agent.heartbeat_skipped'

/** The activity of the company, newest first. The address contains the filter. */
export function ActivityPage() {
  const { query: address, route } = useLocation()
  const filter: Filter = {
    ...(address.agent && { agentId: address.agent }),
    ...(address.about && { entityType: address.about }),
    ...(address.run && { runId: address.run }),
    ...(address.skips !== 'shown' && { without: SKIPPED }),
  }
  const key = JSON.stringify(filter)
  const isPlain = !address.agent && !address.about && !address.run
  const query = useQuery(
    `activity/${key}`,
    () => load(filter, undefined),
    ({ type, data }) => data.entityType !== undefined && type !== filter.without,
  )
  const change = (name: string, value: string) => {
    const next = new URLSearchParams(address)
    if (value === ANY) next.delete(name)
    else next.set(name, value)
    route(`${pathTo('activity')}${next.size > 0 ? `?${next}` : ''}`, true)
  }
  return (
    <Page
      title="Activity"
      layout="list"
      tools={
        <div class="filters">
          <Chip
            label="Agent"
            isOn={!!address.agent}
            value={address.agent ?? ANY}
            options={[
              { value: ANY, label: 'Anybody' },
              ...agents.all.value.map((one) => ({
                value: one.id,
                label: one.name,
                icon: <Avatar name={one.name} status={one.status} />,
              })),
            ]}
            onPick={(value) => change('agent', value)}
          >
            Agent: {agents.get(address.agent)?.name ?? 'any'}
          </Chip>
          <Chip
            label="About"
            isOn={!!address.about}
            value={address.about ?? ANY}
            options={[{ value: ANY, label: 'Everything' }, ...NOUNS.map((value) => ({ value, label: words(value) }))]}
            onPick={(value) => change('about', value)}
          >
            About: {address.about ? words(address.about).toLowerCase() : 'everything'}
          </Chip>
          <Chip
            label="Skipped timers"
            isOn={address.skips === 'shown'}
            value={address.skips ?? ANY}
            options={[
              { value: ANY, label: 'Hidden' },
              { value: 'shown', label: 'Shown' },
            ]}
            onPick={(value) => change('skips', value)}
          >
            Skipped timers: {address.skips === 'shown' ? 'shown' : 'hidden'}
          </Chip>
        </div>
      }
    >
      <Loaded query={query} skeleton={<Skeleton rows={16} />}>
        {({ items, next }) =>
          items.length === 0 ? (
            <Empty
              title={isPlain ? 'No activity yet.' : 'No activity matches this filter.'}
              action={
                isPlain ? (
                  <Button href={pathTo('issues')}>Open the issues</Button>
                ) : (
                  <Button onClick={() => route(pathTo('activity'), true)}>Clear the filter</Button>
                )
              }
            />
          ) : (
            <Rows key={key} filter={filter} items={items} next={next} />
          )
        }
      </Loaded>
    </Page>
  )
}

const load = (filter: Filter, after: string | undefined) =>
  requestPage('GET /api/companies/:companyId/activity', {
    params: { companyId: companyIdNow() },
    query: { ...filter, after, limit: PAGE },
  })

type Row = { key: string } & ({ day: string } | { activity: Activity; times: number })

const dayName = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' })

function Rows({ filter, items, next }: { filter: Filter; items: readonly Activity[]; next: string | undefined }) {
  const older = useSignal<readonly Activity[]>([])
  const cursor = useSignal<string | undefined | null>(null)
  const isLoading = useSignal(false)
  const more = async () => {
    const after = cursor.peek() === null ? next : cursor.peek()
    if (!after || isLoading.peek()) return
    isLoading.value = true
    const page = await act(() => load(filter, after))
    isLoading.value = false
    if (!page) return
    older.value = [...older.peek(), ...page.items]
    cursor.value = page.next
  }
  const all = [...new Map([...items, ...older.value].map((one) => [one.id, one])).values()]
  const rows = all.flatMap((activity, index): Row[] => {
    const day = dayName.format(new Date(activity.createdAt))
    const before = all[index - 1]
    const isNew = !before || dayName.format(new Date(before.createdAt)) !== day
    if (!isNew && before && isRepeated(before, activity)) return []
    const next = all.slice(index + 1)
    const end = next.findIndex((one) => !isRepeated(activity, one))
    const times = 1 + (end === -1 ? next.length : end)
    return [...(isNew ? [{ key: day, day }] : []), { key: activity.id, activity, times }]
  })
  return (
    <List
      id="activity"
      label="Activity"
      rows={rows}
      keyOf={({ key }) => key}
      heightOf={(row) => ('day' in row ? 36 : 32)}
      isItem={(row) => !('day' in row)}
      onEnd={() => void more()}
    >
      {(row) => ('day' in row ? <h2 class="activity-day">{row.day}</h2> : <ActivityRow {...row} />)}
    </List>
  )
}

/** An activity as one line: actor, verb and entity. */
export function ActivityRow({ activity, times }: { activity: Activity; times: number }) {
  const { actorType, actorId, entityType, entityId, createdAt, runId } = activity
  useEffect(() => {
    if (entityType === 'issue') ensureIssue(entityId)
  }, [entityId])
  const agent = actorType === 'agent' ? agents.get(actorId) : undefined
  const name = actorName(activity)
  const subject = subjectOf(activity)
  const more = activity.action === 'issue.updated' ? sentenceOf(activity) : reasonOf(activity)
  return (
    <div class="activity-row">
      {actorType === 'system' ? (
        <Icon svg={cog} size={18} />
      ) : (
        <Avatar name={name} {...(agent ? { status: agent.status } : { isPerson: true })} />
      )}
      <span class="clip">
        <b>{name}</b> {verbOf(activity)}{' '}
        {subject.href ? (
          <a class="row-link" href={subject.href}>
            {subject.name}
          </a>
        ) : (
          <span class="row-link" tabIndex={-1}>
            {subject.name}
          </span>
        )}
        {times > 1 && <span class="note"> {number(times)} times</span>}
        {more && <span class="note"> {more}</span>}
      </span>
      <span class="activity-end">
        {runId && entityType !== 'run' && (
          <a class="note activity-run" href={pathTo(`runs/${runId}`)}>
            run
          </a>
        )}
        <span class="when">
          <Ago at={createdAt} />
        </span>
      </span>
    </div>
  )
}

/** Whether two activities are skipped timers of the same agent. Consecutive ones are displayed as one line. */
const isRepeated = (a: Activity, b: Activity) =>
  a.action === SKIPPED && b.action === a.action && a.entityId === b.entityId

function reasonOf({ action, details }: Activity): string | undefined {
  const reason =
    details?.reason ??
    details?.message ??
    (action === 'run.finished' && details?.status !== 'succeeded' ? details?.status : undefined)
  return typeof reason === 'string' ? reason : undefined
}
