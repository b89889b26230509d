import { agentNames, findId, inCompany, personNames } from './find.ts'
import { localTime, table, words } from './output.ts'
import { list, noun, type Options, show, verb, withLimit } from './verb.ts'

interface Filter extends Options {
  agent?: string
  issue?: string
  action?: string
  since?: string
  limit: string
}

// biome-ignore lint/suspicious/noExplicitAny: an activity as the API shows it.
type Activity = any

export const activityCommand = () =>
  noun('activity', 'Activity: the append-only record of who did what.', [
    withLimit(
      verb('list', 'List what was done, the latest first.', [
        'activity list',
        'activity list --issue TER-6',
        'activity list --action agent.paused --since 2026-11-01T00:00:00Z',
      ]),
    )
      .option('-a, --agent <agent>')
      .option('-i, --issue <issue>')
      .option('--action <action>', 'such as issue.checked_out')
      .option('--since <moment>', 'an ISO 8601 timestamp')
      .action(listAll),
  ])

async function listAll(options: Filter): Promise<void> {
  const { client, path } = await inCompany(options)
  const { issue, agent, action, since, limit } = options
  const rows: Activity[] = await list(client, `${path}/activity`, {
    agentId: agent && (await findId(options, 'agent', agent)),
    entityId: issue && (await client.request('GET', `/api/issues/${encodeURIComponent(issue)}`)).id,
    action,
    since,
    limit,
  })
  if (options.json) return show(options, rows, () => '')
  const [nameOf, personOf] = await Promise.all([agentNames(client, path), personNames(client, path)])
  show(options, rows, () => {
    const cells = rows.map((row) => [
      localTime(row.createdAt),
      row.actorType === 'agent'
        ? nameOf(row.actorId)
        : row.actorType === 'user'
          ? (personOf(row.actorId) ?? 'board')
          : 'server',
      words(row.action),
      subjectOf(row, nameOf),
    ])
    return table([['Time', 'Who', 'Did', 'What'], ...cells])
  })
}

/** What an activity is about, in a few words. */
function subjectOf({ details, agentId }: Activity, nameOf: (id: string | null) => string): string {
  const changes = Object.entries(details?.changes ?? {}).map(
    ([field, change]) => `${field}: ${String((change as Activity).to)}`,
  )
  const name = details?.identifier ?? details?.name ?? nameOf(agentId)
  return [name, details?.title, details?.snippet, details?.status, details?.message, ...changes]
    .filter(Boolean)
    .join(' ')
}
