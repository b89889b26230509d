import type { Context } from '../../platform/context.ts'
import type { ActivityRow } from '../activity/queries.ts'
import { toEvent } from '../activity/record.ts'

/**
 * Returns the body of a delivery: the type, the time and the data of an
 * activity, and a line of text, which Slack displays.
 */
export function payloadOf(ctx: Pick<Context, 'db'>, row: ActivityRow): string {
  const event = toEvent(ctx, row)
  return JSON.stringify({
    type: row.action,
    timestamp: row.created_at,
    data: { ...event, companyId: row.company_id, details: row.details === null ? null : JSON.parse(row.details) },
    text: textOf(row.action, event),
  })
}

/** `issue.checked_out: TER-6 Draw the tide curve (by Kit)`, and `run.finished: Kit failed, TER-6 Draw (by the server)`. */
function textOf(action: string, { entity, entityType, actorName, actorType }: ReturnType<typeof toEvent>): string {
  const { identifier, title, name, agentName, status } = (entity ?? {}) as Record<string, string | undefined>
  const record = [identifier, title ?? name].filter(Boolean).join(' ')
  const run = agentName && [agentName, status?.replaceAll('_', ' ')].filter(Boolean).join(' ')
  const what = entityType === 'run' ? [run, record].filter(Boolean).join(', ') : record
  const who = actorName ?? (actorType === 'system' ? 'the server' : 'the board')
  return escapeForSlack(`${action}${what && `: ${what}`} (by ${who})`)
}

/** In Slack, `<...>` is a link or a mention: a title must not notify a whole channel. */
const escapeForSlack = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
