import * as v from 'valibot'
import * as field from '../../http/fields.ts'
import type { Context } from '../../platform/context.ts'

/** The data of an event that reports an activity. Its type is the action of the activity. */
export const ActivityEvent = v.strictObject({
  activityId: field.id,
  actorType: v.picklist(['agent', 'user', 'system']),
  actorId: v.string(),
  actorName: v.pipe(
    v.nullable(v.string()),
    v.description('The name of the actor; null for the server and for the board of local trusted mode.'),
  ),
  entityType: v.string(),
  entityId: v.string(),
  entity: v.pipe(
    v.nullable(v.record(v.string(), v.unknown())),
    v.description('The fields of the entity that a list shows. Null if it was deleted or its type has none.'),
  ),
  agentId: v.pipe(v.nullable(field.id), v.description('The agent that the activity concerns.')),
  runId: v.pipe(v.nullable(field.id), v.description('The run that did it.')),
  createdAt: field.timestamp,
})
export type ActivityEvent = v.InferOutput<typeof ActivityEvent>

/** The fields of `entity` in an event, for each type of entity that has any. */
export const ENTITY_SUMMARIES = {
  agent: ['name', 'status'],
  approval: ['type', 'status'],
  company: ['name', 'status'],
  goal: ['title', 'status'],
  issue: ['identifier', 'title', 'status', 'priority', 'assigneeAgentId'],
  project: ['name', 'status'],
  run: ['status', 'agentId', 'agentName', 'issueId', 'identifier', 'title'],
} as const

/** The events that report no activity, with when they are published and their data. */
export const OTHER_EVENTS = {
  'wake.waiting': {
    text: 'An agent has a wake. Its run starts when nothing holds it back.',
    data: v.strictObject({ agentId: field.id, wakeId: field.id }),
  },
  'run.running': {
    text: 'The program of a run has started.',
    data: v.strictObject({ runId: field.id, agentId: field.id }),
  },
  'run.stopping': {
    text: 'The stop of a run was requested.',
    data: v.strictObject({
      runId: field.id,
      reason: v.pipe(
        v.nullable(v.string()),
        v.description('`cancelled`, `closed`, `paused`, `terminated`, `budget`, `shutdown` or `stopped`.'),
      ),
    }),
  },
  'company.budget_changed': {
    text: 'The budget of a company changed.',
    data: v.strictObject({ companyId: field.id }),
  },
  'company.deleted': {
    text: 'The company was deleted. The stream has no more events.',
    data: v.strictObject({ companyId: field.id }),
  },
  'import.progress': {
    text: 'An import of a package into the company reached its next phase.',
    data: v.strictObject({
      phase: v.pipe(v.picklist(['fetching', 'writing', 'done', 'failed']), v.description('What the import does.')),
      files: v.optional(v.pipe(field.integer, v.description('How many files of instructions it writes (writing).'))),
      entities: v.optional(v.pipe(field.integer, v.description('How many entities the package has (done).'))),
    }),
  },
} as const
type OtherEvent = keyof typeof OTHER_EVENTS

/** Publishes an event that reports no activity. Call it after the commit of its change. */
export const publishEvent = <Type extends OtherEvent>(
  ctx: Context,
  companyId: string,
  type: Type,
  load: () => v.InferOutput<(typeof OTHER_EVENTS)[Type]['data']>,
): void => ctx.events.publish(companyId, type, load)
