// Takes every page in light, dark and at 390 px: npm run screenshots [-- part of an address ...]
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

/** How long a page may take to come to rest, in milliseconds. */
const REST_MS = 700

test('screenshots of every page', async (t) => {
  const wanted = process.argv.slice(2)
  const opened = await openPage(t)
  const { issuePrefix, issue, agent, run } = await arrangeBusyCompany(opened)
  if (wanted.length === 0) rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  for (const [look, options] of Object.entries(LOOKS)) {
    const page = await opened.open(options)
    for (const address of PAGES) {
      if (wanted.length > 0 && !wanted.some((part) => address.includes(part))) continue
      const path = address.replace(':issue', issue.identifier).replace(':agent', agent.urlKey).replace(':run', run.id)
      await page.goto(`${opened.url}/${issuePrefix}/${path}`)
      await page.waitForTimeout(REST_MS)
      await page.screenshot({ path: `${FOLDER}${address.replaceAll(/\W+/g, '-')}-${look}.png` })
    }
    await page.close()
  }
  if (opened.faults.length > 0) t.diagnostic(opened.faults.join('\n'))
})
