import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import { ErrorBoundary, LocationProvider, lazy, useLocation } from 'preact-iso'
import { Failure } from './kit/states.tsx'
import { Toasts } from './kit/toast.tsx'
import { Frame } from './shell/frame.tsx'
import { preloadPage } from './shell/routes.tsx'
import { onKey } from './state/commands.ts'
import { boot, bootError, defaultCompany, isBooted } from './state/company.ts'
import { applyTheme } from './state/theme.ts'

function App() {
  return (
    <LocationProvider>
      <Start />
      <Toasts />
    </LocationProvider>
  )
}

/** Opens the company in the address. Without one, it opens the last company or the setup page. */
function Start() {
  const { path, route } = useLocation()
  const prefix = /^\/([A-Z][A-Z0-9]*)(?:\/|$)/.exec(path)?.[1]
  useEffect(() => {
    if (!isBooted.value || prefix || path !== '/') return
    const first = defaultCompany()
    route(first ? `/${first.issuePrefix}/inbox` : '/welcome', true)
  }, [isBooted.value, path])
  if (bootError.value) {
    return (
      <main class="alone">
        <Failure error={bootError.value} onRetry={() => void boot()} />
      </main>
    )
  }
  if (!isBooted.value) return null
  if (path === '/welcome') {
    return (
      <ErrorBoundary>
        <WelcomePage />
      </ErrorBoundary>
    )
  }
  return prefix ? <Frame prefix={prefix} key={prefix} /> : null
}

const WelcomePage = lazy(() => import('./pages/welcome/welcome-page.tsx').then((module) => module.WelcomePage))

applyTheme()
addEventListener('keydown', onKey)
void boot()
// The HTML preloads the code of the page, so one render displays the complete page.
await preloadPage(location.pathname).catch(() => {})
render(<App />, document.getElementById('app')!)
