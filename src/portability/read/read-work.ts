import * as v from 'valibot'
import { isMapping, type Yaml } from '../../platform/source/yaml.ts'
import { GOAL_LEVELS, GOAL_STATUSES } from '../../work/goal/goal.ts'
import { PRIORITIES } from '../../work/issue/issue.ts'
import { ISSUE_STATUSES } from '../../work/issue/lifecycle.ts'
import { PROJECT_STATUSES } from '../../work/project/project.ts'
import { NewWorkspace, workspaceNameOf } from '../../work/project/workspace.ts'
import { scheduleFaults } from '../../work/routine/schedule.ts'
import { type Findings, readFields, slugOfReference, toSlug } from './fields.ts'
import type { MarkdownFile } from './markdown-file.ts'
import type {
  PackageGoal,
  PackageLabel,
  PackageProject,
  PackageRoutine,
  PackageTask,
  PackageWorkspace,
  StarterStatus,
} from './package.ts'
import { cronOfRecurrence } from './recurrence.ts'
import type { Sidecar } from './sidecar.ts'

/** Reads the goals: the complete ones of the sidecar, and those of COMPANY.md that are not among them. */
export function readGoals(company: MarkdownFile | undefined, sidecar: Sidecar, findings: Findings): PackageGoal[] {
  const goals = Object.keys(sidecar.section('goals')).map((slug) => {
    const fields = readFields(sidecar.of('goals', slug), `${sidecar.path} (goals.${slug})`, findings)
    return plainGoal(slug, fields.line('title') ?? slug, {
      description: fields.text('description'),
      level: fields.one('level', GOAL_LEVELS) ?? 'company',
      status: fields.one('status', GOAL_STATUSES) ?? 'active',
      parent: fields.line('parent'),
      owner: fields.line('owner'),
      kept: { matter: {}, sidecar: fields.rest(GOAL_FIELDS) },
    })
  })
  const value = company?.fields.get('goals')
  for (const entry of Array.isArray(value) ? value : value ? [value] : []) {
    const fields = readFields(goalFieldsOf(entry), 'COMPANY.md', findings)
    fields.noteUnknown(['title', 'name', 'description'])
    const title = fields.text('title') ?? fields.text('name')
    // A goal may be a paragraph. The text beyond the maximum length of a title becomes its description.
    const goal =
      title &&
      plainGoal(slugOfGoal(title, goals), titleOf(title), {
        description: title.length > 200 || title.includes('\n') ? title : fields.text('description'),
      })
    if (goal && !goals.some((other) => other.title === goal.title)) goals.push(goal)
  }
  return goals
}

/** Returns the fields of a goal. YAML reads the unquoted text `Two duties: count` as a mapping of one key. */
function goalFieldsOf(entry: unknown): Yaml {
  if (!isMapping(entry)) return { title: entry }
  const [[key, value] = ['', null], ...others] = Object.entries(entry)
  const isText = others.length === 0 && !['title', 'name'].includes(key) && typeof value === 'string'
  return isText ? { title: `${key}: ${value}` } : entry
}

const GOAL_FIELDS = ['title', 'description', 'level', 'status', 'parent', 'owner']

/** Returns the slug of a goal that has only a title, unique among the previous goals. */
export const slugOfGoal = (title: string, before: readonly PackageGoal[]): string =>
  uniqueSlug(toSlug(title) || 'goal', before)

const plainGoal = (slug: string, title: string, more: Partial<PackageGoal>): PackageGoal => ({
  slug,
  title,
  description: null,
  level: 'company',
  status: 'active',
  parent: null,
  owner: null,
  kept: { matter: {}, sidecar: {} },
  ...more,
})

const titleOf = (text: string) => {
  const line = text.split('\n')[0]!.trim()
  return line.length > 200 ? `${line.slice(0, 199).toWellFormed()}…` : line
}

/** Returns `slug`, or `slug-2` and so on if it is used. */
function uniqueSlug(stem: string, others: readonly { slug: string }[]): string {
  for (let n = 1; ; n++) {
    const slug = n === 1 ? stem : `${stem}-${n}`
    if (!others.some((other) => other.slug === slug)) return slug
  }
}

export const readLabels = (sidecar: Sidecar, findings: Findings): PackageLabel[] =>
  Object.entries(sidecar.section('labels')).flatMap(([label, value]) => {
    const fields = readFields({ label, color: value }, `${sidecar.path} (labels)`, findings)
    const [name, color] = [fields.line('label'), fields.line('color')]
    return name === null ? [] : [{ name, color: /^#[0-9a-f]{6}$/i.test(color ?? '') ? color! : '#64748b' }]
  })

export function readProject({ path, slug, fields, body, findings }: MarkdownFile, sidecar: Sidecar): PackageProject {
  const ours = readFields(sidecar.of('projects', slug), `${sidecar.path} (projects.${slug})`, findings)
  const owner = fields.line('owner') ?? fields.line('lead') ?? ours.line('owner')
  const workspaces = ours.get('workspaces')
  const text = joined(fields.text('description'), body)
  const date = ours.line('targetDate') ?? fields.line('targetDate')
  if (date !== null && !isDay(date)) ours.problem('targetDate must be a day like 2026-11-30')
  return {
    slug,
    name: fields.line('name') ?? slug,
    ...text,
    status: ours.one('status', PROJECT_STATUSES) ?? fields.one('status', PROJECT_STATUSES) ?? 'planned',
    lead: owner === null ? null : slugOfReference(owner),
    targetDate: date,
    goals: ours.list('goals'),
    workspaces: workspaceEntries(workspaces).flatMap((value) => readWorkspace(value, path, findings) ?? []),
    kept: { matter: fields.rest(PROJECT_FIELDS), sidecar: ours.rest(PROJECT_SIDECAR_FIELDS) },
  }
}

const PROJECT_FIELDS = [...['name', 'slug', 'description', 'owner', 'lead', 'status', 'targetDate', 'schema', 'kind']]
const PROJECT_SIDECAR_FIELDS = ['owner', 'status', 'targetDate', 'goals', 'workspaces']

const isDay = (text: string) =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.slice(0, 10) === text

/**
 * Joins the description in the frontmatter and the body, which are one text in
 * our model. A repeated text is used once.
 */
function joined(description: string | null, body: string): Pick<PackageTask, 'summary' | 'description'> {
  if (description === null || body.startsWith(description)) return { summary: null, description: body || null }
  if (body === '') return { summary: description, description }
  return { summary: description, description: `${description}\n\n${body}` }
}

/** Returns the workspaces of a sidecar: a list, or a mapping by name. The primary one comes first. */
function workspaceEntries(value: unknown): Yaml[] {
  const named = isMapping(value)
    ? Object.entries(value).map(([name, one]) => ({ name, ...(isMapping(one) && one) }))
    : value
  const entries = Array.isArray(named) ? named.filter(isMapping) : []
  return entries.toSorted((a, b) => Number(b.isPrimary === true) - Number(a.isPrimary === true))
}

const WORKSPACE_FIELDS = ['name', 'repoUrl', 'repoRef', 'isPrimary', 'isolation', 'setupCommand', 'cleanupCommand']

function readWorkspace(value: Yaml, path: string, findings: Findings): PackageWorkspace | undefined {
  const { name, repoUrl, repoRef, isolation, setupCommand, cleanupCommand } = value
  const result = v.safeParse(NewWorkspace, {
    ...(typeof name === 'string' && { name }),
    ...Object.fromEntries(
      Object.entries({ repoRef, isolation, setupCommand, cleanupCommand }).filter(([, value]) => value != null),
    ),
    repoUrl,
  })
  const warn = (code: string, message: string) => void findings.warnings.push({ code, path, message })
  if (!result.success || !result.output.repoUrl) {
    const named = typeof name === 'string' ? ` ${name.slice(0, 200)}` : ''
    warn('left_out', `The workspace${named} has no usable repository and is not imported.`)
    return undefined
  }
  readFields(value, path, findings).noteUnknown(WORKSPACE_FIELDS)
  const workspace = result.output
  const commands = [workspace.setupCommand, workspace.cleanupCommand].filter(Boolean)
  if (commands.length > 0) {
    warn('names_what_runs', `A workspace runs these commands on your machine: ${commands.join('; ').slice(0, 500)}`)
  }
  return {
    name: workspace.name ?? workspaceNameOf(workspace),
    repoUrl: result.output.repoUrl,
    repoRef: workspace.repoRef ?? null,
    isolation: workspace.isolation ?? 'none',
    setupCommand: workspace.setupCommand ?? null,
    cleanupCommand: workspace.cleanupCommand ?? null,
  }
}

/** A task of a package: a single task or a recurring one. */
export function readTask(source: MarkdownFile, sidecar: Sidecar): { task?: PackageTask; routine?: PackageRoutine } {
  const { path, slug, fields, body, findings } = source
  const folder = /^projects\/([^/]+)\//.exec(path)?.[1]
  const named = folder ?? fields.line('project')
  const project = named === null ? null : slugOfReference(named)
  const key = folder === undefined ? slug : `${project}/${slug}`
  const routine = sidecar.of('routines', key)
  const schedule = readSchedule(source, routine)
  const ours = schedule
    ? readFields(routine, `${sidecar.path} (routines.${key})`, findings)
    : readFields(sidecar.of('tasks', key), `${sidecar.path} (tasks.${key})`, findings)
  const matter = fields.rest(TASK_FIELDS)
  const assignee = fields.line('assignee') ?? fields.line('assigneeAgent')
  const common = {
    key,
    slug,
    project,
    title: fields.line('name') ?? fields.line('title') ?? slug,
    ...joined(fields.text('description'), body),
    assignee: assignee === null ? null : slugOfReference(assignee),
    priority: ours.one('priority', PRIORITIES) ?? fields.one('priority', PRIORITIES) ?? 'medium',
    labels: ours.list('labels'),
  }
  const parent = ours.line('parent') ?? fields.line('parent')
  const goal = ours.line('goal') ?? fields.line('goal')
  if (schedule) {
    const stored = { matter, sidecar: ours.rest(ROUTINE_SIDECAR_FIELDS) }
    return { routine: { ...common, goal, parent, ...schedule, kept: stored } }
  }
  return {
    task: {
      ...common,
      status: starterStatus(ours.one('status', ISSUE_STATUSES) ?? fields.one('status', ISSUE_STATUSES) ?? 'todo'),
      parent,
      goal,
      billingCode: ours.line('billingCode'),
      blockedBy: ours.list('blockedBy'),
      kept: { matter, sidecar: ours.rest(TASK_SIDECAR_FIELDS) },
    },
  }
}

const TASK_FIELDS = [
  ...['name', 'title', 'slug', 'description', 'assignee', 'assigneeAgent', 'project', 'priority', 'parent', 'goal'],
  ...['status', 'recurring', 'schedule', 'schema', 'kind'],
]

const TASK_SIDECAR_FIELDS = ['status', 'priority', 'labels', 'parent', 'goal', 'billingCode', 'blockedBy']
const ROUTINE_SIDECAR_FIELDS = [
  ...['priority', 'labels', 'parent', 'goal', 'triggers', 'cron', 'cronExpression', 'timezone', 'timeZone'],
  ...['intervalSec', 'overlap', 'concurrencyPolicy', 'recurrence', 'startsAt'],
]

/** Returns the status of an imported issue: work that is in progress elsewhere has still to be done here. */
export const starterStatus = (status: (typeof ISSUE_STATUSES)[number]): StarterStatus =>
  status === 'backlog' || status === 'blocked' ? status : 'todo'

type Schedule = Pick<PackageRoutine, 'cron' | 'timeZone' | 'intervalSec' | 'overlap'>

/**
 * Reads the schedule of a recurring task: a cron expression or an interval,
 * from the task's frontmatter (`schedule`) or a sidecar (`routines`). Undefined
 * for a task that does not recur.
 */
function readSchedule({ fields, path, findings }: MarkdownFile, routine: Yaml): Schedule | undefined {
  const value = fields.get('schedule')
  const isRoutine = value !== null || fields.get('recurring') === true || Object.keys(routine).length > 0
  if (!isRoutine) return undefined
  const triggers = Array.isArray(routine.triggers) ? routine.triggers.filter(isMapping) : []
  const from: Yaml = {
    ...(triggers.find((trigger) => trigger.cronExpression) ?? {}),
    ...routine,
    ...(isMapping(value) ? value : { cron: value }),
  }
  if (triggers.length > 1) {
    const message = 'The task has several triggers. The routine follows the first one with a cron expression.'
    findings.warnings.push({ code: 'routine', path, message })
  }
  const cron = [from.cron, from.cronExpression].find((text) => typeof text === 'string') ?? cronOfRecurrence(from)
  const zone = [from.timezone, from.timeZone].find((text) => typeof text === 'string') ?? null
  const interval = typeof from.intervalSec === 'number' ? Math.floor(from.intervalSec) : null
  if (isMapping(value)) readFields(value, `${path} schedule`, findings).noteUnknown(SCHEDULE_FIELDS)
  const isByHand = isMapping(value) && Object.keys(value).every((key) => key === 'overlap')
  if (cron === null && interval === null && !isByHand) {
    const message = 'The schedule of this recurring task is not supported. It is imported as a single task.'
    findings.warnings.push({ code: 'routine', path, message })
    return undefined
  }
  const schedule = {
    cron: cron as string | null,
    timeZone: cron === null ? null : (zone as string | null),
    intervalSec: cron === null ? interval : null,
  }
  for (const { path: field, message } of scheduleFaults(schedule)) {
    findings.problems.push({ path, message: `its schedule's ${field}: ${message}` })
  }
  const overlap = from.overlap ?? from.concurrencyPolicy
  return { ...schedule, overlap: overlap === 'queue' || overlap === 'allow' ? overlap : 'skip' }
}

const SCHEDULE_FIELDS = [
  ...['cron', 'cronExpression', 'timezone', 'timeZone', 'intervalSec', 'overlap', 'concurrencyPolicy'],
  ...['recurrence', 'startsAt'],
]
