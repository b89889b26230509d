import type { ComponentChildren } from 'preact'
import { Page } from '../../kit/page.tsx'
import { pathTo } from '../../state/company.ts'

/** The pages under Settings. */
export const PLACES = [
  ['settings', 'General'],
  ['approvals', 'Approvals'],
  ['skills', 'Skills'],
  ['secrets', 'Secrets'],
  ['members', 'Members'],
  ['webhooks', 'Webhooks'],
  ['placements', 'Placements'],
] as const

type Place = (typeof PLACES)[number][0]

/** Scrolls the tabs of a narrow screen to the open page. */
const reveal = (tab: HTMLElement | null) => tab?.scrollIntoView({ inline: 'center', block: 'nearest' })

/** A page of the settings, with links to the other ones at the top. */
export function SettingsPlace({
  here,
  actions,
  children,
}: {
  here: Place
  actions?: ComponentChildren
  children: ComponentChildren
}) {
  const title = PLACES.find(([path]) => path === here)![1]
  return (
    <Page title={here === 'settings' ? 'Settings' : title} layout="narrow" actions={actions}>
      <div>
        <nav class="tabs places" aria-label="Settings">
          {PLACES.map(([path, name]) => (
            <a key={path} href={pathTo(path)} {...(path === here && { ref: reveal, 'aria-current': 'page' })}>
              {name}
            </a>
          ))}
        </nav>
        {children}
      </div>
    </Page>
  )
}
