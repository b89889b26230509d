import { batch, computed, signal } from '@preact/signals'
import { type ApiError, request, toApiError } from './api.ts'
import { type Collection, createCollection } from './collection.ts'
import { gather } from './gather.ts'
import { given, takeGiven } from './given.ts'
import { afterPaint, whenIdle } from './idle.ts'
import { followEvents, type LiveEvent, onEvent } from './live.ts'
import { clearQueries } from './query.ts'
import type { Agent, Company, Goal, Instance, Issue, Label, Member, Project, Run, Session } from './types.ts'

/** The companies that are visible to the person, and the person's session. */
export const companies = createCollection<Company>()
export const session = signal<Session | undefined>(undefined)
export const instance = signal<Instance | undefined>(undefined)

const companyId = signal<string | undefined>(undefined)

/** The open company. */
export const company = computed(() => companies.get(companyId.value))

/**
 * The records of the open company. All agents, projects, goals, labels and members are
 * loaded, but only some issues and runs.
 */
export const agents = createCollection<Agent>()
export const projects = createCollection<Project>()
export const goals = createCollection<Goal>()
export const labels = createCollection<Label>()
export const members = createCollection<Member & { id: string }>()
export const issues = createCollection<Issue>()
export const runs = createCollection<Run>()

/** The ids of the runs that are starting or running. */
export const liveRuns = computed(() => runs.all.value.filter(isLive))

/** The ids of issues with a live run, joined to one string, which changes only when a run starts or ends. */
const liveIssueIds = computed(() => liveRuns.value.map(({ issueId }) => issueId).join())
/** Whether an issue has a live run. */
export const isWorkedOn = (issueId: string) => liveIssueIds.value.includes(issueId)

export const isLive = (run: Pick<Run, 'status'>) => run.status === 'starting' || run.status === 'running'

/** The error that prevents the page from starting. */
export const bootError = signal<ApiError | undefined>(undefined)
/** Whether the companies are loaded. */
export const isBooted = signal(false)

/** Loads the data that every page needs. */
export async function boot(): Promise<void> {
  bootError.value = undefined
  if (given && !isBooted.peek()) return start(given.companies, given.session, given.instance)
  try {
    const [found, who, state] = await Promise.all([
      request('GET /api/companies'),
      request('GET /api/auth/session'),
      request('GET /api/instance'),
    ])
    start(found, who, state)
  } catch (error) {
    bootError.value = toApiError(error)
  }
}

function start(found: readonly Company[], who: Session, state: Instance): void {
  batch(() => {
    companies.put(...found)
    session.value = who
    instance.value = state
    isBooted.value = true
  })
}

let stop = new AbortController()
let opened = 0

/** The number of times a company was opened. Data from an earlier opening is discarded. */
export const openings = () => opened

/** Opens a company: clears the previous one, follows its events and loads the small collections. */
export function openCompany(found: Company): void {
  if (companyId.peek() === found.id) return
  stop.abort()
  stop = new AbortController()
  opened++
  isLoaded.value = false
  batch(() => {
    for (const collection of [agents, projects, goals, labels, members, issues, runs]) collection.clear()
    clearQueries()
    companyId.value = found.id
  })
  whenIdle(() => localStorage.setItem('company', found.issuePrefix))
  const { signal: stopped } = stop
  // The stream resumes after the data in the HTML, so it can wait for the first view.
  afterPaint(() => stopped.aborted || followEvents(found.id, stopped))
  // The session has no role for a company that was created or joined after the page was loaded.
  const me = session.peek()
  if (me && me.name !== null && !me.memberships.some((one) => one.companyId === found.id)) void LOADERS.session()
  const known = takeGiven(found.id, 'lists')
  if (!known) {
    void loadAll()
    return
  }
  batch(() => {
    agents.put(...known.agents)
    projects.put(...known.projects)
    goals.put(...known.goals)
    labels.put(...known.labels)
    members.put(...known.members.map(toMember))
    putLiveRuns(known.runs)
    isLoaded.value = true
  })
}

const toMember = (one: Member) => ({ ...one, id: one.userId })

function putLiveRuns(live: readonly Run[]): void {
  runs.put(...live)
  for (const { issueId } of live) ensureIssue(issueId)
}

/** The id of the open company. Pages are rendered only while a company is open. */
export const companyIdNow = () => companyId.peek()!

/** Returns a path of the open company: `pathTo('issues/TER-6')` is `/TER/issues/TER-6`. */
export const pathTo = (rest: string) => `/${company.value?.issuePrefix ?? ''}/${rest}`

/** Returns the company to open if the address has none: the last one, or the first. */
export function defaultCompany(): Company | undefined {
  const last = localStorage.getItem('company')
  const all = companies.all.peek().filter(({ status }) => status !== 'archived')
  return all.find(({ issuePrefix }) => issuePrefix === last) ?? all[0]
}

const LOADERS = {
  agents: async (params: Params) => replace(agents, await request('GET /api/companies/:companyId/agents', { params })),
  projects: async (params: Params) =>
    replace(projects, await request('GET /api/companies/:companyId/projects', { params })),
  goals: async (params: Params) => replace(goals, await request('GET /api/companies/:companyId/goals', { params })),
  labels: async (params: Params) => replace(labels, await request('GET /api/companies/:companyId/labels', { params })),
  members: async (params: Params) =>
    replace(members, (await request('GET /api/companies/:companyId/members', { params })).map(toMember)),
  runs: async (params: Params) => {
    const live = await request('GET /api/companies/:companyId/live-runs', { params })
    const ids = new Set(live.map(({ id }) => id))
    for (const run of runs.all.peek()) if (isLive(run) && !ids.has(run.id)) void loadRun(run.id)
    putLiveRuns(live)
  },
  company: async (params: Params) => companies.put(await request('GET /api/companies/:companyId', { params })),
  session: async () => {
    session.value = await request('GET /api/auth/session')
  },
  instance: async () => {
    instance.value = await request('GET /api/instance')
  },
}
type Params = { companyId: string }
type Part = keyof typeof LOADERS

/** The error of a failed load. The pages display it with a retry button. */
export const loadError = signal<ApiError | undefined>(undefined)
/** Whether the small collections are loaded. */
export const isLoaded = signal(false)

export async function loadAll(): Promise<void> {
  const params = { companyId: companyIdNow() }
  try {
    await Promise.all([
      LOADERS.agents(params),
      LOADERS.projects(params),
      LOADERS.labels(params),
      LOADERS.members(params),
      LOADERS.goals(params),
      LOADERS.runs(params),
    ])
    loadError.value = undefined
    isLoaded.value = true
  } catch (error) {
    loadError.value = toApiError(error)
  }
}

function replace<T extends { id: string }>(collection: Collection<T>, rows: readonly T[]): void {
  const ids = new Set(rows.map(({ id }) => id))
  batch(() => {
    for (const { id } of collection.all.peek()) if (!ids.has(id)) collection.remove(id)
    collection.put(...rows)
  })
}

/** The time in which several events cause one request for each issue and run, in milliseconds. */
const GATHER_MS = 60
/** The minimum time between two loads of a list, in milliseconds. A busy company has many events per second. */
const LIST_MS = 1_000

const wantedParts = new Set<Part>()
const wantedIssues = new Set<string>()
const wantedRuns = new Set<string>()

const PARTS_OF: Record<string, readonly Part[]> = {
  agent: ['agents'],
  project: ['projects'],
  goal: ['goals'],
  label: ['labels'],
  user: ['members', 'session'],
  company: ['company', 'instance'],
  run: ['agents'],
}

onEvent((event) => {
  if (event.type === 'reset') {
    void loadAll()
    void LOADERS.instance()
    return
  }
  const noun = event.data.entityType ?? event.type.split('.')[0]!
  showEntity(noun, event)
  if (noun === 'issue' && event.data.entityId) wantedIssues.add(event.data.entityId)
  if (noun === 'run' && event.data.entityId) wantedRuns.add(event.data.entityId)
  for (const part of PARTS_OF[noun] ?? []) wantedParts.add(part)
  if (wantedIssues.size + wantedRuns.size > 0) loadChanged()
  if (wantedParts.size > 0) loadLists()
})

/** Applies the summary in an event immediately. The request that follows loads the complete record. */
function showEntity(noun: string, { type, data: { entityId, entity, agentId, createdAt } }: LiveEvent): void {
  if (!entityId || !entity) return
  if (noun === 'issue') issues.patch(entityId, { ...entity, ...(createdAt && { updatedAt: createdAt }) })
  if (noun === 'agent') agents.patch(entityId, entity)
  if (noun === 'run') {
    runs.patch(entityId, entity)
    const agent = agents.row(agentId ?? '').peek()
    if (type === 'run.started' && agent?.status === 'idle') agents.patch(agent.id, { status: 'running' })
  }
}

/** Reloads the issues and runs that events were about. */
const loadChanged = gather(GATHER_MS, () => {
  for (const id of wantedIssues) void loadIssue(id)
  for (const id of wantedRuns) void loadRun(id).catch(() => {})
  wantedIssues.clear()
  wantedRuns.clear()
})

/** Reloads the lists that events changed. */
const loadLists = gather(LIST_MS, () => {
  const params = { companyId: companyIdNow() }
  for (const part of wantedParts) void LOADERS[part](params).catch(() => {})
  wantedParts.clear()
})

/** The issues that are being loaded. Many rows of a list can request the same issue. */
const loading = new Map<string, Promise<void>>()

/** Loads an issue, unless it is loaded. */
export function ensureIssue(issueId: string | null): void {
  if (issueId === null || issues.row(issueId).peek() || loading.has(issueId)) return
  loading.set(
    issueId,
    loadIssue(issueId).finally(() => loading.delete(issueId)),
  )
}

/** Reloads an issue. A deleted issue is removed from the page. */
async function loadIssue(issueId: string): Promise<void> {
  try {
    const { project, goal, ancestors, activeRun, ...issue } = (await request('GET /api/issues/:issueId', {
      params: { issueId },
    })) as Issue & Record<string, unknown>
    issues.put(issue as Issue)
  } catch (error) {
    if (toApiError(error).status === 404) issues.remove(issueId)
  }
}

async function loadRun(runId: string): Promise<void> {
  runs.put(await request('GET /api/runs/:runId', { params: { runId } }))
}

/** The person's role in the open company. Local trusted mode has no roles and allows everything. */
export const role = computed(() => {
  const me = session.value
  if (!me || me.name === null) return 'owner'
  return me.memberships.find((one) => one.companyId === companyId.value)?.role ?? 'viewer'
})
const RANK = ['viewer', 'member', 'admin', 'owner']

/** Whether the person's role in the open company is at least the given one. */
export const may = (least: 'member' | 'admin' | 'owner') => RANK.indexOf(role.value) >= RANK.indexOf(least)

/** Whether the person may change what belongs to the whole server: placements, and a freeze. */
export const isOperator = computed(() => session.value?.isOperator ?? false)

/** Returns the name of an agent or a person. The current person is "You". */
export function nameOf(who: { agentId?: string | null; userId?: string | null }): string {
  if (who.agentId) return agents.get(who.agentId)?.name ?? 'An agent'
  if (who.userId && who.userId === session.value?.userId) return session.value.name ?? 'You'
  return members.get(who.userId)?.name ?? 'The board'
}

/** Returns the name of the actor of an activity. */
export const actorName = ({ actorType, actorId }: { actorType: string; actorId: string }) =>
  actorType === 'system' ? 'The server' : nameOf(actorType === 'agent' ? { agentId: actorId } : { userId: actorId })
