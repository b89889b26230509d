import type { ResponseOf } from '../../client/types.ts'
import { CliError, EXIT } from '../../connection/exit-codes.ts'
import { NAMED } from '../command/find.ts'
import { choice, clearable, LIMIT, longText, reference, required, text, toggle } from '../command/flag.ts'
import { fields, localTime, shortId } from '../command/output.ts'
import type { Scope } from '../command/scope.ts'
import { act, create, edit, list, noun, remove, view } from '../command/verb.ts'
import { lineOf } from './issue-line.ts'

type Routine = ResponseOf<'GET /api/routines/:routineId'>

const CHANGE = {
  cron: text('--cron <expression>', 'minute, hour, day of the month, month, day of the week'),
  timeZone: text('--zone <time zone>', 'the time zone of the cron expression (default: UTC)'),
  intervalSec: {
    ...text('--every <interval>', 'instead of --cron: 90s, 15m, 2h or 1d; at least a minute'),
    parse: secondsOf,
  },
  overlap: choice('--overlap <policy>', ['skip', 'queue', 'allow'], 'while an issue of it is open (default: skip)'),
  description: clearable(longText('-d, --description <text>')),
  priority: choice('-p, --priority <priority>', ['critical', 'high', 'medium', 'low']),
  projectId: clearable(reference('project', '--project <project>')),
  goalId: clearable(reference('goal', '--goal <goal>')),
  parentId: clearable(text('--parent <issue>', 'the parent of its issues')),
}

const assigneeAgentId = reference('agent', '-a, --assignee <agent>', 'the assignee of its issues')

const theRoutine = async (scope: Scope, ref: string) => ({ routineId: await scope.find('routine', ref) })

const getRoutine = async (scope: Scope, [ref]: readonly [string]) =>
  scope.client.request('GET /api/routines/:routineId', { params: await theRoutine(scope, ref) })

export const routineCommand = () =>
  noun('routine', 'Routines: issues that are created on a schedule.', [
    list({
      summary: 'List the routines.',
      flags: LIMIT,
      examples: ['routine list'],
      empty: 'There are no routines. Create one with `service routine create`.',
      page: 'routines',
      load: async (scope, query) =>
        scope.client.page('GET /api/companies/:companyId/routines', { params: await scope.inCompany(), query }),
      async columns(scope) {
        const nameOf = await scope.agentNames()
        return {
          Routine: ({ title }) => title,
          When: scheduleOf,
          Assignee: ({ assigneeAgentId: id }) => nameOf(id),
          Next: ({ nextDueAt, status }) => (nextDueAt === null ? status : localTime(nextDueAt)),
          Id: ({ id }) => shortId(id),
        }
      },
    }),
    view({
      summary: 'Show a routine.',
      args: ['<routine>'],
      examples: ['routine view "Sweep the floor"'],
      page: () => 'routines',
      load: getRoutine,
      text: describe,
    }),
    create({
      summary: 'Create a routine.',
      args: ['<title>'],
      flags: {
        ...CHANGE,
        assigneeAgentId: required(assigneeAgentId),
        status: { ...toggle('--paused', 'create it paused'), parse: () => 'paused' as const },
      },
      examples: [
        'routine create "Weekly report" --assignee Kit --cron "0 9 * * 1" --zone Europe/Berlin',
        'routine create "Look at the queue" --assignee Kit --every 2h --overlap queue',
      ],
      send: async (scope, [title], body) =>
        scope.client.request('POST /api/companies/:companyId/routines', {
          params: await scope.inCompany(),
          body: { ...body, title },
        }),
      text: describe,
    }),
    edit({
      summary: 'Change a routine. A new schedule counts from now.',
      args: ['<routine>'],
      flags: { title: text('--title <title>'), assigneeAgentId, ...CHANGE },
      examples: [
        'routine edit "Sweep the floor" --every 1d',
        'routine edit "Sweep the floor" --assignee Ada --title "Mop the floor"',
      ],
      load: getRoutine,
      send: async (scope, [ref], body) =>
        scope.client.request('PATCH /api/routines/:routineId', { params: await theRoutine(scope, ref), body }),
      text: describe,
    }),
    remove({
      summary: 'Delete a routine and its history. Its issues stay.',
      args: ['<routine>'],
      examples: ['routine delete "Sweep the floor" --yes'],
      ask: ([ref]) => `Delete the routine ${ref}?`,
      send: async (scope, [ref]) =>
        scope.client.request('DELETE /api/routines/:routineId', { params: await theRoutine(scope, ref) }),
      text: ({ title }) => `${title} is deleted. Its issues remain.`,
    }),
    act({
      name: 'run',
      summary: 'Create its issue now.',
      args: ['<routine>'],
      examples: ['routine run "Sweep the floor"'],
      async send(scope, [ref]) {
        const { issueId } = await scope.client.request('POST /api/routines/:routineId/run', {
          params: await theRoutine(scope, ref),
        })
        return scope.client.request('GET /api/issues/:issueId', { params: { issueId: issueId! } })
      },
      text: lineOf,
    }),
    act({
      name: 'pause',
      summary: 'Pause a routine.',
      args: ['<routine>'],
      examples: ['routine pause "Sweep the floor"'],
      send: async (scope, [ref]) =>
        scope.client.request('POST /api/routines/:routineId/pause', { params: await theRoutine(scope, ref) }),
      text: describe,
    }),
    act({
      name: 'resume',
      summary: 'Resume a routine at its next scheduled time.',
      args: ['<routine>'],
      examples: ['routine resume "Sweep the floor"'],
      send: async (scope, [ref]) =>
        scope.client.request('POST /api/routines/:routineId/resume', { params: await theRoutine(scope, ref) }),
      text: describe,
    }),
    list({
      name: 'history',
      summary: 'List the scheduled times and what happened at each.',
      args: ['<routine>'],
      flags: { limit: { ...LIMIT.limit, default: '20' } },
      examples: ['routine history "Sweep the floor"'],
      empty: 'It was not due yet.',
      load: async (scope, query, [ref]) =>
        scope.client.page('GET /api/routines/:routineId/history', { params: await theRoutine(scope, ref), query }),
      async columns(scope) {
        const issues = await NAMED.issue(scope.client, (await scope.inCompany()).companyId)
        const identifiers = new Map(issues.map(({ id, names }) => [id, names[0]]))
        return {
          Due: ({ dueAt }) => localTime(dueAt),
          Happened: ({ firedAt }) => localTime(firedAt),
          Outcome: ({ outcome }) => outcome,
          What: ({ reason, issueId }) =>
            reason ?? (issueId && (identifiers.get(issueId) ?? `issue ${shortId(issueId)}`)),
        }
      },
    }),
  ])

async function describe(routine: Routine, scope: Scope): Promise<string> {
  const nameOf = await scope.agentNames()
  return fields([
    ['Routine', routine.title],
    ['Assignee', nameOf(routine.assigneeAgentId)],
    ['When', scheduleOf(routine)],
    ['Overlap', routine.overlap],
    ['Status', routine.status],
    ['Next', routine.nextDueAt && localTime(routine.nextDueAt)],
    ['Waits since', routine.queuedDueAt && localTime(routine.queuedDueAt)],
    ['Priority', routine.priority],
    ['Description', routine.description],
    ['Id', routine.id],
  ])
}

function scheduleOf({ cron, timeZone, intervalSec }: Pick<Routine, 'cron' | 'timeZone' | 'intervalSec'>): string {
  if (cron !== null) return `${cron} (${timeZone})`
  return intervalSec === null ? 'by hand' : intervalOf(intervalSec)
}

/** Formats an interval in its largest whole unit: `every 2 h`. */
function intervalOf(seconds: number): string {
  const [unit, length] = Object.entries(UNITS).findLast(([, one]) => seconds % one === 0)!
  return `every ${seconds / length} ${unit === 'm' ? 'min' : unit}`
}

const UNITS: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 }

function secondsOf(given: string): number {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(given) ?? []
  if (!count || !unit)
    throw new CliError(EXIT.usage, `--every is an interval such as 90s, 15m, 2h or 1d, not ${given}.`)
  return Number(count) * UNITS[unit]!
}
