import { batch, computed, signal } from '@preact/signals'
import { type ApiError, request, toApiError } from './api.ts'
import { type Collection, createCollection } from './collection.ts'
import { gather } from './gather.ts'
import { given, takeGiven } from './given.ts'
import { followEvents, type LiveEvent, onEvent } from './live.ts'
import { clearQueries } from './query.ts'
import type { Agent, Company, Goal, Instance, Issue, Label, Member, Project, Run, Session } from './types.ts'

/** The companies that the person may see, and who the person is. */
export const companies = createCollection<Company>()
export const session = signal<Session | undefined>(undefined)
export const instance = signal<Instance | undefined>(undefined)

const companyId = signal<string | undefined>(undefined)

/** The company whose pages are open. */
export const company = computed(() => companies.get(companyId.value))

/** What is held of the open company. Agents, projects, goals, labels and members are all there; issues and runs as they were loaded. */
export const agents = createCollection<Agent>()
export const projects = createCollection<Project>()
export const goals = createCollection<Goal>()
export const labels = createCollection<Label>()
export const members = createCollection<Member & { id: string }>()
export const issues = createCollection<Issue>()
export const runs = createCollection<Run>()

/** The ids of the runs that are starting or running. */
export const liveRuns = computed(() => runs.all.value.filter(isLive))

/** The issues that have a live run, as one text: it changes only when one begins or ends. */
const liveIssueIds = computed(() => liveRuns.value.map(({ issueId }) => issueId).join())
/** Whether a run works on an issue. */
export const isWorkedOn = (issueId: string) => liveIssueIds.value.includes(issueId)

export const isLive = (run: Pick<Run, 'status'>) => run.status === 'starting' || run.status === 'running'

/** Why the page cannot start. */
export const bootError = signal<ApiError | undefined>(undefined)
/** Whether the companies are known. */
export const isBooted = signal(false)

/** Loads what every page needs. */
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

/** How often a company was opened: what was kept from an earlier time is not to be used. */
export const openings = () => opened

/** Opens a company: forgets the one before, follows its events and loads what is small. */
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
  localStorage.setItem('company', found.issuePrefix)
  followEvents(found.id, stop.signal)
  // A company that was created or joined since the page was loaded: the session does not know the person's role in it.
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

/** The id of the open company; pages are shown only while there is one. */
export const companyIdNow = () => companyId.peek()!

/** A path of the open company: `pathTo('issues/TER-6')` is `/TER/issues/TER-6`. */
export const pathTo = (rest: string) => `/${company.value?.issuePrefix ?? ''}/${rest}`

/** The company to open when the address names none: the last one, or the first. */
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

/** What could not be loaded; the pages show it with a retry. */
export const loadError = signal<ApiError | undefined>(undefined)
/** Whether the small collections are there. */
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

/** Events within this time cost one request for each issue and run, in milliseconds. */
const GATHER_MS = 60
/** Whole lists are loaded again at most so often: a busy company has many events a second. */
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

/** Shows at once what the event itself says; the request that follows brings the rest. */
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

/** Loads again the issues and runs that events were about. */
const loadChanged = gather(GATHER_MS, () => {
  for (const id of wantedIssues) void loadIssue(id)
  for (const id of wantedRuns) void loadRun(id).catch(() => {})
  wantedIssues.clear()
  wantedRuns.clear()
})

/** Loads again the lists that events have changed. */
const loadLists = gather(LIST_MS, () => {
  const params = { companyId: companyIdNow() }
  for (const part of wantedParts) void LOADERS[part](params).catch(() => {})
  wantedParts.clear()
})

/** The issues that are being loaded: a list may ask for the same one in every row. */
const loading = new Map<string, Promise<void>>()

/** Loads one issue into the page, unless it is here. */
export function ensureIssue(issueId: string | null): void {
  if (issueId === null || issues.row(issueId).peek() || loading.has(issueId)) return
  loading.set(
    issueId,
    loadIssue(issueId).finally(() => loading.delete(issueId)),
  )
}

/** Loads one issue into the page again. An issue that is gone is removed. */
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

/** What the person is in the open company. Local trusted mode has no roles: then everything is allowed. */
export const role = computed(() => {
  const me = session.value
  if (!me || me.name === null) return 'owner'
  return me.memberships.find((one) => one.companyId === companyId.value)?.role ?? 'viewer'
})
const RANK = ['viewer', 'member', 'admin', 'owner']

/** Whether the person's role in the open company is at least this one. */
export const may = (least: 'member' | 'admin' | 'owner') => RANK.indexOf(role.value) >= RANK.indexOf(least)

/** The name of an agent or a person; the person who looks is "You". */
export function nameOf(who: { agentId?: string | null; userId?: string | null }): string {
  if (who.agentId) return agents.get(who.agentId)?.name ?? 'An agent'
  if (who.userId && who.userId === session.value?.userId) return session.value.name ?? 'You'
  return members.get(who.userId)?.name ?? 'The board'
}
