import type { ComponentType } from 'preact'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { ErrorBoundary, Route, Router, useLocation } from 'preact-iso'
import { signOut } from '../actions/sign-out.ts'
import { stopEverything } from '../actions/stop.ts'
import { Button } from '../kit/button.tsx'
import { Confirmation } from '../kit/dialog.tsx'
import { loadPopup } from '../kit/menu.tsx'
import { Page } from '../kit/page.tsx'
import { Empty, Failure } from '../kit/states.tsx'
import { PLACES } from '../pages/settings/place.tsx'
import { useCommands } from '../state/commands.ts'
import { companies, company, loadAll, loadError, may, openCompany, pathTo, session } from '../state/company.ts'
import { openNewAgent, openNewIssue, openNewLabel, openPalette, showKeys } from '../state/dialogs.ts'
import { afterPaint, whenIdle } from '../state/idle.ts'
import '../state/notify.ts'
import { clearInbox, loadInbox } from '../state/inbox.ts'
import { setTheme, THEMES } from '../state/theme.ts'
import { Banners } from './banners.tsx'
import { NAVIGATION, PAGES, preloadPages } from './routes.tsx'
import { Sidebar } from './sidebar.tsx'

/** The delay before other pages are preloaded, in milliseconds. The first page needs the network and the processor. */
const PRELOAD_MS = 1_000

/** The frame of a company's pages: the sidebar, the banners and the page at the address. */
export function Frame({ prefix }: { prefix: string }) {
  const found = companies.all.value.find(({ issuePrefix }) => issuePrefix === prefix)
  const { route } = useLocation()
  // A normal effect would display the page one frame later.
  useLayoutEffect(() => {
    if (!found) return
    openCompany(found)
    clearInbox()
    void loadInbox().catch(() => {})
  }, [found?.id])
  useCommands([
    ...NAVIGATION.map(({ path, title, key }) => ({
      id: `go.${path}`,
      title,
      keys: `g ${key}`,
      group: 'Go to',
      run: () => route(pathTo(path)),
    })),
    ...PLACES.slice(1).map(([path, title]) => ({
      id: `go.${path}`,
      title,
      group: 'Go to',
      run: () => route(pathTo(path)),
    })),
    { id: 'go.export', title: 'Export this company', group: 'Go to', run: () => route(pathTo('export')) },
    ...(may('admin')
      ? [{ id: 'go.import', title: 'Import a package', group: 'Go to', run: () => route(pathTo('import')) }]
      : []),
    ...companies.all.value
      .filter(({ id, status }) => id !== found?.id && status !== 'archived')
      .map(({ id, name, issuePrefix }) => ({
        id: `company.${id}`,
        title: `Switch to ${name}`,
        group: 'General',
        run: () => route(`/${issuePrefix}/inbox`),
      })),
    { id: 'company.new', title: 'New company', group: 'General', run: () => route('/welcome') },
    ...THEMES.map(({ value, label }) => ({
      id: `theme.${value}`,
      title: `Theme: ${label.toLowerCase()}`,
      group: 'General',
      run: () => setTheme(value),
    })),
    ...(may('member')
      ? [
          { id: 'issue.new', title: 'New issue', keys: 'c', group: 'General', run: () => openNewIssue({}) },
          { id: 'label.new', title: 'New label', group: 'General', run: () => openNewLabel() },
        ]
      : []),
    ...(may('admin')
      ? [
          { id: 'agent.new', title: 'Hire an agent', group: 'General', run: openNewAgent },
          { id: 'stop', title: 'Emergency stop', keys: 'mod+.', group: 'General', run: () => void stopEverything() },
        ]
      : []),
    ...(session.value?.name != null
      ? [{ id: 'account.out', title: 'Sign out', group: 'General', run: () => void signOut() }]
      : []),
    { id: 'palette', title: 'Search and commands', keys: 'mod+k', group: 'General', isKeyOnly: true, run: openPalette },
    { id: 'search', title: 'Search', keys: '/', group: 'General', isKeyOnly: true, run: openPalette },
    { id: 'keys', title: 'Show the keyboard shortcuts', keys: '?', group: 'General', run: showKeys },
  ])
  useEffect(() => {
    const timer = setTimeout(preloadPages, PRELOAD_MS)
    return () => clearTimeout(timer)
  }, [])
  if (!found) return <Lost />
  if (company.value?.id !== found.id) return null
  return (
    <div class="frame">
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <Sidebar />
      <div class="content">
        <Banners />
        {loadError.value && <Failure error={loadError.value} onRetry={() => void loadAll()} />}
        <ErrorBoundary>
          <Router>
            {PAGES.map(({ path, component }) => (
              <Route key={path} path={`/:company/${path}`} component={component} />
            ))}
            <Route path="/:company" component={Missing} />
            <Route default component={Missing} />
          </Router>
        </ErrorBoundary>
      </div>
      <Dialogs />
      <Confirmation />
    </div>
  )
}

/** The dialogs that every page can open. Their code loads after the first view. */
function Dialogs() {
  const [Loaded, setLoaded] = useState<ComponentType>()
  useEffect(() => {
    afterPaint(() => whenIdle(() => void import('./dialogs.tsx').then((module) => setLoaded(() => module.Dialogs))))
    afterPaint(() => whenIdle(() => void loadPopup()))
  }, [])
  return Loaded ? <Loaded /> : null
}

/** The page for an unknown address. */
function Missing() {
  const { path, route } = useLocation()
  const isRoot = path.split('/').filter(Boolean).length < 2
  useEffect(() => {
    if (isRoot) route(pathTo('inbox'), true)
  }, [isRoot])
  if (isRoot) return null
  return (
    <Page title="Not found">
      <Empty
        title="There is no page at this address."
        action={<Button href={pathTo('inbox')}>Open the inbox</Button>}
      />
    </Page>
  )
}

/** The page for a company that does not exist or is not visible to the person. */
function Lost() {
  return (
    <main class="alone">
      <Empty
        title="There is no such company, or you are not a member of it."
        action={<Button href="/">Open your company</Button>}
      />
    </main>
  )
}
