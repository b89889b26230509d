import type { Command } from 'commander'
import { CliError, EXIT } from './exit-codes.ts'
import { agentNames, findId, inCompany } from './find.ts'
import { fields, shortId, table } from './output.ts'
import { clientOf, given, list, noun, type Options, show, textOf, verb, withLimit } from './verb.ts'

interface Change extends Options {
  title?: string
  agent?: string
  cron?: string
  zone?: string
  every?: string
  overlap?: string
  description?: string
  priority?: string
  project?: string
  goal?: string
  parent?: string
}

// biome-ignore lint/suspicious/noExplicitAny: a routine as the API shows it.
type Routine = any

const act = (name: string, description: string): Command =>
  verb(name, description, [`routine ${name} "Sweep the floor"`])
    .argument('<routine>', 'its title or id')
    .action((ref: string, options: Options) => ask(name, ref, options))

const withChange = (command: Command): Command =>
  command
    .option('--cron <expression>', 'minute, hour, day of the month, month, day of the week')
    .option('--zone <time zone>', 'of the cron expression (UTC where none was ever said)')
    .option('--every <interval>', 'instead of --cron: 90s, 15m, 2h or 1d; at least a minute')
    .option('--overlap <policy>', 'while an issue of it is open: skip (where nothing else was said), queue or allow')
    .option('-d, --description <text>', 'text, @file or -')
    .option('-p, --priority <priority>', 'critical, high, medium or low')
    .option('--project <project>')
    .option('--goal <goal>')
    .option('--parent <issue>', 'the issue that its issues are below')

export const routineCommand = () =>
  noun('routine', 'Routines: issues that come back on a schedule.', [
    withLimit(verb('list', 'List the routines.', ['routine list'])).action(listAll),
    verb('show', 'Show a routine.', ['routine show "Sweep the floor"']).argument('<routine>').action(showOne),
    withChange(
      verb('create', 'Create a routine.', [
        'routine create "Sweep the floor" --agent Kit --cron "0 9 * * 1" --zone Europe/Berlin',
        'routine create "Look at the queue" --agent Kit --every 2h --overlap queue',
      ]),
    )
      .argument('<title>')
      .requiredOption('-a, --agent <agent>', 'whom its issues are assigned to')
      .option('--paused', 'it begins paused')
      .action(create),
    withChange(
      verb('update', 'Change a routine; another schedule counts from this moment.', [
        'routine update "Sweep the floor" --every 1d',
        'routine update "Sweep the floor" --agent Ada --title "Mop the floor"',
      ]),
    )
      .argument('<routine>', 'its title or id')
      .option('-a, --agent <agent>', 'whom its issues are assigned to')
      .option('--title <title>')
      .action(update),
    verb('delete', 'Delete a routine with its history; its issues stay.', ['routine delete "Sweep the floor"'])
      .argument('<routine>', 'its title or id')
      .action(remove),
    verb('run', 'Create its issue now.', ['routine run "Sweep the floor"'])
      .argument('<routine>', 'its title or id')
      .action(run),
    act('pause', 'Pause a routine.'),
    act('resume', 'Let a routine go on with its next moment.'),
    withLimit(verb('history', 'List what became of its moments.', ['routine history "Sweep the floor"']), '20')
      .argument('<routine>', 'its title or id')
      .action(history),
  ])

async function listAll(options: Options & { limit: string }): Promise<void> {
  const { client, path } = await inCompany(options)
  const routines: Routine[] = await list(client, `${path}/routines`, { limit: options.limit })
  const nameOf = options.json ? () => '' : await agentNames(client, path)
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
  const routine = await clientOf(options).request('GET', `/api/routines/${await findId(options, 'routine', ref)}`)
  show(options, routine, () => describe(routine))
}

async function create(title: string, options: Change & { paused?: boolean }): Promise<void> {
  const { client, path } = await inCompany(options)
  const change = await changeOf({ ...options, title })
  const body = given({ ...change, status: options.paused ? 'paused' : undefined })
  const routine = await client.request('POST', `${path}/routines`, body)
  show(options, routine, () => describe(routine))
}

async function update(ref: string, options: Change): Promise<void> {
  const id = await findId(options, 'routine', ref)
  const routine = await clientOf(options).request('PATCH', `/api/routines/${id}`, await changeOf(options))
  show(options, routine, () => describe(routine))
}

async function remove(ref: string, options: Options): Promise<void> {
  const id = await findId(options, 'routine', ref)
  const routine = await clientOf(options).request('DELETE', `/api/routines/${id}`)
  show(options, routine, () => `${routine.title} is deleted; its issues stay.`)
}

async function changeOf(options: Change) {
  const { agent, description, project, goal } = options
  return given({
    title: options.title,
    assigneeAgentId: agent === undefined ? undefined : await findId(options, 'agent', agent),
    cron: options.cron,
    timeZone: options.zone,
    intervalSec: options.every === undefined ? undefined : secondsOf(options.every),
    overlap: options.overlap,
    description: description === undefined ? undefined : textOf(description),
    priority: options.priority,
    projectId: project === undefined ? undefined : await findId(options, 'project', project),
    goalId: goal === undefined ? undefined : await findId(options, 'goal', goal),
    parentId: options.parent,
  })
}

async function run(ref: string, options: Options): Promise<void> {
  const client = clientOf(options)
  const id = await findId(options, 'routine', ref)
  const { issueId } = await client.request('POST', `/api/routines/${id}/run`)
  const issue = await client.request('GET', `/api/issues/${issueId}`)
  show(options, issue, () => `${issue.identifier} is ${issue.status}: ${issue.title}`)
}

async function ask(what: string, ref: string, options: Options): Promise<void> {
  const id = await findId(options, 'routine', ref)
  const routine = await clientOf(options).request('POST', `/api/routines/${id}/${what}`)
  show(options, routine, () => describe(routine))
}

async function history(ref: string, options: Options & { limit: string }): Promise<void> {
  const id = await findId(options, 'routine', ref)
  const moments = await list(clientOf(options), `/api/routines/${id}/history`, { limit: options.limit })
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

const scheduleOf = ({ cron, timeZone, intervalSec }: Routine): string =>
  cron === null ? `every ${intervalSec} s` : `${cron} (${timeZone})`

const UNITS: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 }

function secondsOf(text: string): number {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(text) ?? []
  if (!count || !unit) throw new CliError(EXIT.usage, `An interval is like 90s, 15m, 2h or 1d, not ${text}.`)
  return Number(count) * UNITS[unit]!
}
