import chevrons from 'lucide-static/icons/chevrons-up-down.svg'
import ellipsis from 'lucide-static/icons/ellipsis.svg'
import octagon from 'lucide-static/icons/octagon-x.svg'
import search from 'lucide-static/icons/search.svg'
import { useLocation } from 'preact-iso'
import { stopEverything } from '../actions/stop.ts'
import { CompanyMark } from '../kit/company-mark.tsx'
import { money, plural } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Picker } from '../kit/menu.tsx'
import { agents, companies, company, liveRuns, may, pathTo } from '../state/company.ts'
import { openPalette } from '../state/dialogs.ts'
import { inboxCount } from '../state/inbox.ts'
import { NAVIGATION } from './routes.tsx'

const NEW = 'new'
const STOP = 'stop'

/** The pages without an entry in the sidebar, each with the page whose entry is highlighted. */
const PARENTS: Record<string, string> = {
  approvals: 'settings',
  skills: 'settings',
  secrets: 'settings',
  members: 'settings',
  webhooks: 'settings',
  placements: 'settings',
  import: 'settings',
  export: 'settings',
}

/** The sidebar: the company, the pages and the emergency stop. */
export function Sidebar() {
  const { path, route } = useLocation()
  const page = path.split('/')[2] ?? ''
  const here = PARENTS[page] ?? page
  const found = company.value
  const atWork = liveRuns.value.length
  const canStop = may('admin') && found?.stoppedAt === null
  const counts: Record<string, string | undefined> = {
    inbox: inboxCount.value > 0 ? String(inboxCount.value) : undefined,
    agents: agents.all.value.some(({ status }) => status === 'error')
      ? `${agents.all.value.filter(({ status }) => status === 'error').length} in error`
      : undefined,
    runs: atWork > 0 ? String(atWork) : undefined,
    costs: found && found.spentMonthlyCents > 0 ? money(found.spentMonthlyCents) : undefined,
  }
  return (
    <nav class="sidebar" aria-label="Main">
      <Picker
        label="Company"
        class="company"
        value={found?.id}
        options={[
          ...companies.all.value.map((one) => ({
            value: one.id,
            label: one.name,
            icon: <CompanyMark name={one.name} logoUrl={one.logoUrl} color={one.brandColor} />,
            ...(one.status !== 'active' && { note: one.status }),
          })),
          { value: NEW, label: 'New company…' },
        ]}
        onPick={(id) => {
          const chosen = companies.get(id)
          route(chosen ? `/${chosen.issuePrefix}/inbox` : '/welcome')
        }}
      >
        <CompanyMark name={found?.name ?? ''} logoUrl={found?.logoUrl ?? null} color={found?.brandColor ?? null} />
        <span class="clip">{found?.name}</span>
        <Icon svg={chevrons} size={14} />
      </Picker>
      <button type="button" class="side-item search" onClick={openPalette}>
        <Icon svg={search} />
        <span>Search</span>
        <kbd>/</kbd>
      </button>
      <ul>
        {NAVIGATION.map(({ path, title, icon, isMain }) => (
          <li key={path} class={isMain ? '' : 'not-on-phone'}>
            <a class="side-item" href={pathTo(path)} aria-current={here === path ? 'page' : undefined} title={title}>
              <Icon svg={icon} />
              <span>{title}</span>
              {counts[path] !== undefined && <span class={`count ${path}`}>{counts[path]}</span>}
            </a>
          </li>
        ))}
      </ul>
      <Picker
        label="More"
        class="side-item on-phone"
        value={here}
        options={[
          ...NAVIGATION.filter(({ isMain }) => !isMain).map(({ path, title, icon }) => ({
            value: path,
            label: title,
            icon: <Icon svg={icon} />,
          })),
          ...(canStop ? [{ value: STOP, label: 'Emergency stop', icon: <Icon svg={octagon} /> }] : []),
        ]}
        onPick={(picked) => (picked === STOP ? void stopEverything() : route(pathTo(picked)))}
      >
        <Icon svg={ellipsis} />
        <span>More</span>
      </Picker>
      <div class="side-foot not-on-phone">
        <span class={atWork > 0 ? 'live' : ''}>{atWork > 0 ? `${atWork} live` : 'No live runs'}</span>
        {canStop && (
          <button
            type="button"
            class="stop"
            title={`Emergency stop: ends ${plural(atWork, 'run')} and blocks new ones`}
            onClick={() => void stopEverything()}
          >
            <Icon svg={octagon} size={14} />
            <span>Stop</span>
          </button>
        )}
      </div>
    </nav>
  )
}
