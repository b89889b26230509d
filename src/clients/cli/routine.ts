import type { Command } from 'commander'
import type { BodyOf, ResponseOf } from '../client/types.ts'
import { CliError, EXIT } from '../connection/exit-codes.ts'
import { agentNames, findId, inCompany } from './find.ts'
import { readText } from './input.ts'
import { fields, shortId, table } from './output.ts'
import { clientOf, list, mapDefined, noun, type Options, show, verb, withLimit } from './verb.ts'

type Routine = ResponseOf<'GET /api/routines/:routineId'>
type RoutineChange = BodyOf<'PATCH /api/routines/:routineId'>

interface Change extends Options {
  title?: string
  agent?: string
  cron?: string
  zone?: string
  every?: string
  overlap?: RoutineChange['overlap']
  description?: string
  priority?: RoutineChange['priority']
  project?: string
  goal?: string
  parent?: string
}

const act = (name: 'pause' | 'resume', description: string): Command =>
  verb(name, description, [`routine ${name} "Sweep the floor"`])
    .argument('<routine>', 'its title or id')
    .action((ref: string, options: Options) => setPaused(name, ref, options))

const withChange = (command: Command): Command =>
  command
    .option('--cron <expression>', 'minute, hour, day of the month, month, day of the week')
    .option('--zone <time zone>', 'the time zone of the cron expression (default: UTC)')
    .option('--every <interval>', 'instead of --cron: 90s, 15m, 2h or 1d; at least a minute')
    .option('--overlap <policy>', 'while an issue of it is open: skip (the default), queue or allow')
    .option('-d, --description <text>', 'text, @file or -')
    .option('-p, --priority <priority>', 'critical, high, medium or low')
    .option('--project <project>')
    .option('--goal <goal>')
    .option('--parent <issue>', 'the parent of its issues')

export const routineCommand = () =>
  noun('routine', 'Routines: issues that are created on a schedule.', [
    withLimit(verb('list', 'List the routines.', ['routine list'])).action(listAll),
    verb('show', 'Show a routine.', ['routine show "Sweep the floor"']).argument('<routine>').action(showOne),
    withChange(
      verb('create', 'Create a routine.', [
        'routine create "Sweep the floor" --agent Kit --cron "0 9 * * 1" --zone Europe/Berlin',
        'routine create "Look at the queue" --agent Kit --every 2h --overlap queue',
      ]),
    )
      .argument('<title>')
      .requiredOption('-a, --agent <agent>', 'the assignee of its issues')
      .option('--paused', 'create it paused')
      .action(create),
    withChange(
      verb('update', 'Change a routine. A new schedule counts from now.', [
        'routine update "Sweep the floor" --every 1d',
        'routine update "Sweep the floor" --agent Ada --title "Mop the floor"',
      ]),
    )
      .argument('<routine>', 'its title or id')
      .option('-a, --agent <agent>', 'the assignee of its issues')
      .option('--title <title>')
      .action(update),
    verb('delete', 'Delete a routine and its history. Its issues stay.', ['routine delete "Sweep the floor"'])
      .argument('<routine>', 'its title or id')
      .action(remove),
    verb('run', 'Create its issue now.', ['routine run "Sweep the floor"'])
      .argument('<routine>', 'its title or id')
      .action(run),
    act('pause', 'Pause a routine.'),
    act('resume', 'Resume a routine at its next scheduled time.'),
    withLimit(
      verb('history', 'List the scheduled times and what happened at each.', ['routine history "Sweep the floor"']),
      '20',
    )
      .argument('<routine>', 'its title or id')
      .action(history),
  ])

async function listAll(options: Options & { limit: string }): Promise<void> {
  const { client, companyId } = await inCompany(options)
  const routines = await list(client, 'GET /api/companies/:companyId/routines', {
    params: { companyId },
    query: { limit: options.limit },
  })
  const nameOf = options.json ? () => '' : await agentNames(client, companyId)
  show(options, routines, () => {
    const rows = routines.map((routine) => [
      routine.title,
      scheduleOf(routine),
      nameOf(routine.assigneeAgentId),
      routine.nextDueAt ?? routine.status,
      shortId(routine.id),
    ])
    return table([['Routine', 'When', 'Assignee', 'Next', 'Id'], ...rows])
  })
}

async function showOne(ref: string, options: Options): Promise<void> {
  const routineId = await findId(options, 'routine', ref)
  const routine = await clientOf(options).request('GET /api/routines/:routineId', { params: { routineId } })
  show(options, routine, () => describe(routine))
}

async function create(title: string, options: Change & { paused?: boolean }): Promise<void> {
  const { client, companyId } = await inCompany(options)
  const { assigneeAgentId, ...change } = await changeOf(options)
  const status = options.paused ? ('paused' as const) : undefined
  const body = { ...change, title, assigneeAgentId: assigneeAgentId!, status }
  const routine = await client.request('POST /api/companies/:companyId/routines', { params: { companyId }, body })
  show(options, routine, () => describe(routine))
}

async function update(ref: string, options: Change): Promise<void> {
  const routineId = await findId(options, 'routine', ref)
  const body = await changeOf(options)
  const routine = await clientOf(options).request('PATCH /api/routines/:routineId', { params: { routineId }, body })
  show(options, routine, () => describe(routine))
}

async function remove(ref: string, options: Options): Promise<void> {
  const routineId = await findId(options, 'routine', ref)
  const routine = await clientOf(options).request('DELETE /api/routines/:routineId', { params: { routineId } })
  show(options, routine, () => `${routine.title} is deleted; its issues stay.`)
}

async function changeOf(options: Change) {
  const { agent, description, project, goal } = options
  return {
    title: options.title,
    assigneeAgentId: await mapDefined(agent, (name) => findId(options, 'agent', name)),
    cron: options.cron,
    timeZone: options.zone,
    intervalSec: mapDefined(options.every, secondsOf),
    overlap: options.overlap,
    description: await mapDefined(description, readText),
    priority: options.priority,
    projectId: await mapDefined(project, (name) => findId(options, 'project', name)),
    goalId: await mapDefined(goal, (name) => findId(options, 'goal', name)),
    parentId: options.parent,
  }
}

async function run(ref: string, options: Options): Promise<void> {
  const client = clientOf(options)
  const routineId = await findId(options, 'routine', ref)
  const { issueId } = await client.request('POST /api/routines/:routineId/run', { params: { routineId } })
  const issue = await client.request('GET /api/issues/:issueId', { params: { issueId: issueId! } })
  show(options, issue, () => `${issue.identifier} is ${issue.status}: ${issue.title}`)
}

async function setPaused(action: 'pause' | 'resume', ref: string, options: Options): Promise<void> {
  const routineId = await findId(options, 'routine', ref)
  const routine = await clientOf(options).request(`POST /api/routines/:routineId/${action}`, { params: { routineId } })
  show(options, routine, () => describe(routine))
}

async function history(ref: string, options: Options & { limit: string }): Promise<void> {
  const routineId = await findId(options, 'routine', ref)
  const moments = await list(clientOf(options), 'GET /api/routines/:routineId/history', {
    params: { routineId },
    query: { limit: options.limit },
  })
  show(options, moments, () => {
    const rows = moments.map(({ dueAt, firedAt, outcome, issueId, reason }) => [
      dueAt,
      firedAt,
      outcome,
      reason ?? (issueId === null ? '' : `issue ${shortId(issueId)}`),
    ])
    return table([['Due', 'Happened', 'Outcome', 'What'], ...rows])
  })
}

const describe = (routine: Routine) =>
  fields([
    ['Routine', routine.title],
    ['When', scheduleOf(routine)],
    ['Overlap', routine.overlap],
    ['Status', routine.status],
    ['Next', routine.nextDueAt],
    ['Waits since', routine.queuedDueAt],
    ['Priority', routine.priority],
    ['Description', routine.description],
    ['Id', routine.id],
  ])

const scheduleOf = ({ cron, timeZone, intervalSec }: Pick<Routine, 'cron' | 'timeZone' | 'intervalSec'>): string =>
  cron === null ? `every ${intervalSec} s` : `${cron} (${timeZone})`

const UNITS: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 }

function secondsOf(text: string): number {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(text) ?? []
  if (!count || !unit) throw new CliError(EXIT.usage, `An interval is like 90s, 15m, 2h or 1d, not ${text}.`)
  return Number(count) * UNITS[unit]!
}
