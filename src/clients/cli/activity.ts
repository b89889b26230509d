import type { ItemOf } from '../client/types.ts'
import { agentNames, findId, inCompany, personNames } from './find.ts'
import { localTime, table, words } from './output.ts'
import { list, mapDefined, noun, type Options, show, verb, withLimit } from './verb.ts'

interface Filter extends Options {
  agent?: string
  issue?: string
  action?: string
  since?: string
  limit: string
}

type Activity = ItemOf<'GET /api/companies/:companyId/activity'>

export const activityCommand = () =>
  noun('activity', 'Activity: the append-only record of all actions and their actors.', [
    withLimit(
      verb('list', 'List the activity, the latest first.', [
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
  const { client, companyId } = await inCompany(options)
  const { issue, agent, action, since, limit } = options
  const agentId = await mapDefined(agent, (ref) => findId(options, 'agent', ref))
  const about = await mapDefined(issue, (issueId) =>
    client.request('GET /api/issues/:issueId', { params: { issueId } }),
  )
  const rows = await list(client, 'GET /api/companies/:companyId/activity', {
    params: { companyId },
    query: { agentId, entityId: about?.id, action, since, limit },
  })
  if (options.json) return show(options, rows, () => '')
  const [nameOf, personOf] = await Promise.all([agentNames(client, companyId), personNames(client, companyId)])
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
    return table([['Time', 'Actor', 'Action', 'Subject'], ...cells])
  })
}

/** The fields of an activity's details that this command prints. Each action has its own. */
interface Details {
  changes?: Record<string, { to: unknown }>
  identifier?: string
  name?: string
  title?: string
  snippet?: string
  status?: string
  message?: string
}

/** Describes the subject of an activity in a few words. */
function subjectOf({ details: any, agentId }: Activity, nameOf: (id: string | null) => string): string {
  const details = any as Details | null
  const changes = Object.entries(details?.changes ?? {}).map(([field, change]) => `${field}: ${String(change.to)}`)
  const name = details?.identifier ?? details?.name ?? nameOf(agentId)
  return [name, details?.title, details?.snippet, details?.status, details?.message, ...changes]
    .filter(Boolean)
    .join(' ')
}
