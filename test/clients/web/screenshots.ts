// Takes screenshots of every page in the light theme, the dark theme and at 390 px: npm run screenshots [-- part of a path ...]
import { mkdirSync, rmSync } from 'node:fs'
import { test } from 'node:test'
import { arrangeBusyCompany } from './busy-company.ts'
import { openPage } from './page.ts'
import { PAGES } from './pages.ts'

const FOLDER = new URL('../../../screenshots/', import.meta.url).pathname

const LOOKS = {
  light: { viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
  dark: { viewport: { width: 1440, height: 900 }, colorScheme: 'dark' },
  tablet: { viewport: { width: 1024, height: 768 }, colorScheme: 'light' },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: 'light', isMobile: true, hasTouch: true },
} as const

/** Dialogs that open over a page: by a key, or by clicks on the elements of these selectors. */
const DIALOGS: Record<string, { on: string; keys?: string; choose?: readonly string[] }> = {
  'new-issue': { on: 'issues', keys: 'c' },
  palette: { on: 'issues', keys: 'Control+k' },
  keys: { on: 'inbox', keys: '?' },
  hire: { on: 'agents', keys: 'n' },
  stop: { on: 'inbox', keys: 'Control+.' },
  'new-goal': { on: 'goals', keys: 'n' },
  'new-project': { on: 'projects', keys: 'n' },
  'new-routine': { on: 'routines', keys: 'n' },
  'new-secret': { on: 'secrets', keys: 'n' },
  'new-webhook': { on: 'webhooks', keys: 'n' },
  'new-placement': { on: 'placements', keys: 'n' },
  reject: { on: 'approvals', keys: 'r' },
  rehearsal: { on: 'agents/:agent', keys: 'Control+k', choose: ['text=Rehearse Kit'] },
  status: { on: 'issues/:issue', choose: ['.properties .picker'] },
  why: { on: 'issues/:issue', keys: 'w' },
}

/** The time limit for a page to become stable, in milliseconds. */
const REST_MS = 700

test('screenshots of every page', async (t) => {
  const wanted = process.argv.slice(2)
  const opened = await openPage(t, { maxRuns: 8 })
  const { issuePrefix, addressOf } = await arrangeBusyCompany(opened)
  if (wanted.length === 0) rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  for (const [look, options] of Object.entries(LOOKS)) {
    const page = await opened.open(options)
    for (const address of PAGES) {
      if (wanted.length > 0 && !wanted.some((part) => address.includes(part))) continue
      await page.goto(`${opened.url}/${issuePrefix}/${addressOf(address)}`)
      await page.waitForTimeout(REST_MS)
      await page.screenshot({ path: `${FOLDER}${address.replaceAll(/\W+/g, '-')}-${look}.png` })
    }
    for (const [name, { on, keys, choose }] of Object.entries(DIALOGS)) {
      if (wanted.length > 0 && !wanted.some((part) => `dialog-${name}`.includes(part))) continue
      await page.goto(`${opened.url}/${issuePrefix}/${addressOf(on)}`)
      await page.waitForTimeout(REST_MS)
      if (keys) await page.keyboard.press(keys)
      for (const selector of choose ?? []) await page.locator(selector).first().click()
      await page.waitForTimeout(REST_MS)
      await page.screenshot({ path: `${FOLDER}dialog-${name}-${look}.png` })
    }
    await page.close()
  }
  if (opened.faults.length > 0) t.diagnostic(opened.faults.join('\n'))
})
