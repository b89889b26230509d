import { useSignal } from '@preact/signals'
import fuzzysort from 'fuzzysort'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { Avatar } from '../kit/avatar.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { StatusGlyph } from '../kit/status.tsx'
import { request } from '../state/api.ts'
import { currentCommands } from '../state/commands.ts'
import { agents, company, companyIdNow, issues, pathTo, projects } from '../state/company.ts'
import { isPaletteOpen } from '../state/dialogs.ts'
import type { Issue } from '../state/types.ts'
import { keyText } from './keys.tsx'
import { pageActions } from './page-actions.ts'

interface Entry {
  id: string
  title: string
  group: string
  keys?: string | undefined
  glyph?: preact.ComponentChildren
  run: () => void
}

/** The maximum number of entries of a group. */
const SHOWN = 8

/** The delay between the last keystroke and the search request, in milliseconds. */
const REST_MS = 120

/** The command palette: a search over all commands and pages. */
export function Palette() {
  return isPaletteOpen.value ? <OpenPalette /> : null
}

function OpenPalette() {
  const { route } = useLocation()
  const text = useSignal('')
  const active = useSignal(0)
  const found = useSignal<Issue[]>([])
  const list = useRef<HTMLDivElement>(null)
  const close = () => {
    isPaletteOpen.value = false
  }
  useEffect(() => {
    const q = text.value.trim()
    const stop = new AbortController()
    const timer = setTimeout(async () => {
      if (q.length < 2 || !company.peek()) return
      const params = { companyId: companyIdNow() }
      const rows = await request('GET /api/companies/:companyId/issues', {
        params,
        query: { q, limit: SHOWN },
        signal: stop.signal,
      }).catch(() => [])
      found.value = rows
    }, REST_MS)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [text.value])

  const offered = useMemo(() => {
    const known = currentCommands().filter(({ isKeyOnly }) => !isKeyOnly)
    return [...known, ...pageActions(new Set(known.map(({ title }) => title)))]
  }, [])
  const go = (path: string) => () => route(pathTo(path))
  const entries: Entry[] = [
    ...offered,
    ...agents.all.value.map((agent) => ({
      id: agent.id,
      title: agent.name,
      group: 'Agents',
      glyph: <Avatar name={agent.name} status={agent.status} />,
      run: go(`agents/${agent.urlKey}`),
    })),
    ...projects.all.value.map((project) => ({
      id: project.id,
      title: project.name,
      group: 'Projects',
      run: go(`projects/${project.id}`),
    })),
    ...unique([...found.value, ...issues.all.value]).map((issue) => ({
      id: issue.id,
      title: `${issue.identifier} ${issue.title}`,
      group: 'Issues',
      glyph: <StatusGlyph status={issue.status} />,
      run: go(`issues/${issue.identifier}`),
    })),
  ]
  const displayed = rank(entries, text.value)
  const pick = (entry: Entry | undefined) => {
    if (!entry) return
    close()
    entry.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (by !== 0) {
      active.value = (active.value + by + displayed.length) % Math.max(displayed.length, 1)
      requestAnimationFrame(() => list.current?.querySelector('.active')?.scrollIntoView({ block: 'nearest' }))
    } else if (event.key === 'Enter') pick(displayed[active.value])
    else return
    event.preventDefault()
  }
  return (
    <Dialog title="Search and commands" isBare width={600} onClose={close}>
      <input
        class="palette-input"
        placeholder="Search issues, agents and commands"
        aria-label="Search issues, agents and commands"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={displayed[active.value] ? `palette-${active.value}` : undefined}
        autofocus
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value
          active.value = 0
        }}
        onKeyDown={onKeyDown}
      />
      <div ref={list} id="palette-list" role="listbox" aria-label="Results" class="palette-list" tabIndex={-1}>
        {displayed.map((entry, index) => (
          <div key={entry.id}>
            {entry.group !== displayed[index - 1]?.group && <div class="palette-group">{entry.group}</div>}
            <div
              id={`palette-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === active.value}
              class={`option${index === active.value ? ' active' : ''}`}
              onMouseMove={() => {
                active.value = index
              }}
              onClick={() => pick(entry)}
            >
              {entry.glyph}
              <span class="clip">{entry.title}</span>
              {entry.keys && <kbd>{keyText(entry.keys)}</kbd>}
            </div>
          </div>
        ))}
        {displayed.length === 0 && <p class="palette-empty">Nothing matches “{text.value}”.</p>}
      </div>
    </Dialog>
  )
}

function unique<T extends { id: string }>(rows: readonly T[]): T[] {
  return [...new Map(rows.map((row) => [row.id, row])).values()]
}

const EVERYWHERE = ['Go to', 'General', 'Agents', 'Projects', 'Issues']

/** Returns the best matches. The groups are sorted by their best match. */
function rank(entries: readonly Entry[], text: string): Entry[] {
  const matches =
    text.trim() === '' ? entries : fuzzysort.go(text, entries, { key: 'title', limit: 60 }).map(({ obj }) => obj)
  const groups = [...Map.groupBy(matches, ({ group }) => group).values()]
  if (text.trim() !== '') return groups.flatMap((group) => group.slice(0, SHOWN))
  // The commands of the open page come first.
  const isEverywhere = ([first]: readonly Entry[]) => EVERYWHERE.includes(first!.group)
  return groups
    .toSorted((a, b) => Number(isEverywhere(a)) - Number(isEverywhere(b)))
    .flatMap((group) => group.slice(0, group[0]!.group === 'Go to' ? group.length : 6))
}
