import type { ItemOf } from '../../client/types.ts'
import { personNames } from '../command/find.ts'
import { LIMIT, reference, text } from '../command/flag.ts'
import { localTime, words } from '../command/output.ts'
import { list, noun } from '../command/verb.ts'

type Activity = ItemOf<'GET /api/companies/:companyId/activity'>

export const activityCommand = () =>
  noun('activity', 'Activity: the append-only record of all actions and their actors.', [
    list({
      summary: 'List the activity, the latest first.',
      flags: {
        ...LIMIT,
        agentId: reference('agent', '-a, --agent <agent>'),
        issue: text('-i, --issue <issue>'),
        action: text('--action <action>', 'such as issue.checked_out'),
        since: text('--since <time>', 'an ISO 8601 timestamp'),
      },
      examples: [
        'activity list',
        'activity list --issue TER-6',
        'activity list --action agent.paused --since 2026-11-01T00:00:00Z',
      ],
      empty: ({ limit: _, ...filter }) =>
        Object.keys(filter).length > 0 ? 'There is no such activity.' : 'There is no activity yet.',
      page: 'activity',
      async load({ client, inCompany }, { issue, ...query }) {
        const entity = issue && (await client.request('GET /api/issues/:issueId', { params: { issueId: issue } }))
        return client.page('GET /api/companies/:companyId/activity', {
          params: await inCompany(),
          query: { ...query, ...(entity && { entityId: entity.id }) },
        })
      },
      async columns(scope) {
        const nameOf = await scope.agentNames()
        const personOf = await personNames(scope.client, (await scope.inCompany()).companyId)
        return {
          Time: ({ createdAt }) => localTime(createdAt),
          Actor: ({ actorType, actorId }) =>
            actorType === 'agent' ? nameOf(actorId) : actorType === 'user' ? (personOf(actorId) ?? 'board') : 'server',
          Action: ({ action }) => words(action),
          Subject: (row) => subjectOf(row, nameOf),
        }
      },
    }),
  ])

/** The fields of an activity's details that this command prints. Each action has its own. */
interface Details {
  fileName?: string
  key?: string
  changes?: Record<string, { to: unknown }>
  identifier?: string
  name?: string
  title?: string
  snippet?: string
  status?: string
  message?: string
}

/** Describes the subject of an activity in a few words. */
function subjectOf({ details: any, agentId, entityType }: Activity, nameOf: (id: string | null) => string): string {
  const details = any as Details | null
  const changes = Object.entries(details?.changes ?? {}).map(([field, change]) => `${field}: ${String(change.to)}`)
  const isRun = entityType === 'run'
  const name = isRun
    ? [nameOf(agentId), details?.identifier].filter(Boolean).join(' on ')
    : (details?.identifier ?? details?.name ?? nameOf(agentId))
  return [
    isRun && details?.status ? `${name}:` : name,
    details?.title,
    details?.snippet,
    details?.fileName,
    details?.key,
    details?.status && words(details.status),
    details?.message,
    ...changes,
  ]
    .filter(Boolean)
    .join(' ')
}
