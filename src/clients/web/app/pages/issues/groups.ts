import { batch, computed, type ReadonlySignal, signal } from '@preact/signals'
import { useLayoutEffect, useMemo } from 'preact/hooks'
import { FIRST_ISSUES } from '../../../first-requests.ts'
import { type IssueStatus, PRIORITIES } from '../../kit/status.tsx'
import { type ApiError, requestPage, toApiError } from '../../state/api.ts'
import { agents, companyIdNow, issues, openings } from '../../state/company.ts'
import { onEvent, onReconnect } from '../../state/live.ts'
import { SKELETON_MS } from '../../state/query.ts'
import type { Issue } from '../../state/types.ts'
import { type Filter, matches, toQuery } from './filter.ts'

/** The issues of one status, loaded in pages. */
export interface Group {
  status: IssueStatus
  /** The loaded issues, by priority, then newest first. */
  rows: ReadonlySignal<Issue[]>
  total: ReadonlySignal<number | undefined>
  hasMore: ReadonlySignal<boolean>
  more(): void
}

export interface Groups {
  list: readonly Group[]
  isLoaded: ReadonlySignal<boolean>
  isSlow: ReadonlySignal<boolean>
  error: ReadonlySignal<ApiError | undefined>
  reload(): void
}

/** The page size. */
const PAGE = 200

const cache = new Map<string, Groups & { connect(): () => void }>()

/** The issues that match a filter, by status. They stay loaded while the page is open, and events update them. */
export function useGroups(filter: Filter): Groups {
  const key = `${openings()} ${toQuery({ ...filter, view: 'list' })}`
  const groups = useMemo(() => {
    const known = cache.get(key)
    if (known) return known
    const created = createGroups(filter)
    cache.set(key, created)
    return created
  }, [key])
  // Starts the requests during rendering. An effect would start them one frame later.
  useLayoutEffect(() => groups.connect(), [groups])
  return groups
}

function createGroups(filter: Filter): Groups & { connect(): () => void } {
  const isLoaded = signal(false)
  const isSlow = signal(false)
  const error = signal<ApiError | undefined>(undefined)
  /** The ids that the server's text search returned. Without a search text, every loaded issue may match. */
  const found = signal<ReadonlySet<string>>(new Set())
  const rowsByStatus = computed(() => {
    const all = filter.q === undefined ? issues.all.value : issues.all.value.filter(({ id }) => found.value.has(id))
    const byStatus = Map.groupBy(
      all.filter((issue) => matches(filter, issue)),
      ({ status }) => status,
    )
    for (const rows of byStatus.values()) rows.sort(byUrgency)
    return byStatus
  })
  const list = filter.status.map((status) => createGroup(status))
  let isStale = true

  function createGroup(status: IssueStatus) {
    const next = signal<string | undefined>(undefined)
    const last = signal<Issue | undefined>(undefined)
    const counted = signal<{ total: number; had: number } | undefined>(undefined)
    const hasMore = computed(() => next.value !== undefined)
    // Excludes issues after the last loaded row that another page loaded, because issues between them may be missing.
    const rows = computed(() => {
      const all = rowsByStatus.value.get(status) ?? []
      const end = last.value
      return end && hasMore.value ? all.filter((issue) => byUrgency(issue, end) <= 0) : all
    })
    const total = computed(() =>
      counted.value ? counted.value.total + rows.value.length - counted.value.had : undefined,
    )
    let loading: Promise<void> | undefined
    const load = async (after: string | undefined) => {
      const assignee = filter.assignee
      const isAgent = assignee !== undefined && agents.row(assignee).peek() !== undefined
      const page = await requestPage('GET /api/companies/:companyId/issues', {
        params: { companyId: companyIdNow() },
        query: {
          status,
          limit: after === undefined ? FIRST_ISSUES : PAGE,
          after,
          count: after === undefined ? 'true' : undefined,
          assigneeAgentId: isAgent ? assignee : undefined,
          assigneeUserId: isAgent ? undefined : assignee,
          projectId: filter.projectId,
          goalId: filter.goalId,
          labelId: filter.labelId,
          unread: filter.isUnread ? 'true' : undefined,
          q: filter.q,
        },
      })
      batch(() => {
        issues.put(...page.items)
        found.value = new Set([...found.peek(), ...page.items.map(({ id }) => id)])
        next.value = page.next
        last.value = page.items.at(-1) ?? last.peek()
        if (page.total !== undefined) counted.value = { total: page.total, had: rows.peek().length }
        else if (counted.peek()) counted.value = { total: counted.peek()!.total, had: rows.peek().length }
      })
    }
    const more = () => {
      if (next.peek() === undefined || loading) return
      loading = load(next.peek()).finally(() => {
        loading = undefined
      })
    }
    return { status, rows, total, hasMore, more, load }
  }

  async function reload(): Promise<void> {
    isStale = false
    const slow = setTimeout(() => {
      isSlow.value = !isLoaded.peek()
    }, SKELETON_MS)
    try {
      await Promise.all(list.map((group) => group.load(undefined)))
      batch(() => {
        isLoaded.value = true
        error.value = undefined
      })
    } catch (thrown) {
      isStale = true
      error.value = toApiError(thrown)
    } finally {
      clearTimeout(slow)
      isSlow.value = false
    }
  }

  return {
    list,
    isLoaded,
    isSlow,
    error,
    reload: () => void reload(),
    /** Loads missing issues and updates them until the returned function is called. */
    connect() {
      if (isStale) void reload()
      const stops = [
        onEvent((event) => {
          if (event.type === 'reset') void reload()
        }),
        onReconnect(() => {
          if (error.peek()) void reload()
        }),
      ]
      return () => {
        for (const stop of stops) stop()
      }
    },
  }
}

const rank = Object.fromEntries(PRIORITIES.map((priority, index) => [priority, index]))

/** Compares issues in the order of the server: by priority, then newest first. */
const byUrgency = (a: Issue, b: Issue) =>
  rank[a.priority]! - rank[b.priority]! || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0)
