import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { NO_CHROMIUM } from '../../browser/chromium.ts'
import { arrangeBusyCompany } from './busy-company.ts'
import { openPage } from './page.ts'
import { PAGES } from './pages.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The time limit for a page to become stable, in milliseconds. */
const REST_MS = 500

const NAMED = 'label-content-name-mismatch'

interface Violation {
  id: string
  impact: string
  nodes: { target: string[] }[]
}

test('axe finds no serious problem on any page, in the light and the dark theme', { skip: NO_CHROMIUM }, async (t) => {
  const opened = await openPage(t, { maxRuns: 8 })
  const { issuePrefix, addressOf } = await arrangeBusyCompany(opened)
  const found: string[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await opened.open({ colorScheme, bypassCSP: true })
    for (const address of PAGES) {
      const path = addressOf(address)
      await page.goto(`${opened.url}/${issuePrefix}/${path}`)
      await page.waitForTimeout(REST_MS)
      await page.evaluate(AXE)
      const violations: Violation[] = await page.evaluate(
        `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] }).then(({ violations }) => violations)`,
      )
      for (const { id, impact, nodes: all } of violations) {
        // The text of a tree item contains the text of its children, but its accessible name must not.
        const nodes = all.filter(({ target }) => id !== NAMED || !target.join(' ').startsWith('li['))
        if (nodes.length === 0) continue
        if (impact === 'serious' || impact === 'critical')
          found.push(`${colorScheme} ${address}: ${id} at ${nodes.map(({ target }) => target.join(' ')).join(', ')}`)
      }
    }
    await page.close()
  }
  assert.deepEqual(found, [])
})
