import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_CHROMIUM } from '../../browser/chromium.ts'
import { openPage } from './page.ts'

test('a person goes from an empty server to a finished issue without a terminal', { skip: NO_CHROMIUM }, async (t) => {
  const { url, open, faults } = await openPage(t)
  const page = await open()
  await page.goto(url)
  await page.waitForURL(`${url}/welcome`)
  await page.getByLabel('Company name').fill('Gull & Sons')
  await page.getByRole('radio', { name: 'Demo agent' }).check()
  assert.equal(await page.getByLabel('Monthly budget').inputValue(), '50')
  await page.getByLabel('Title').fill('Say hello')
  await page.getByRole('button', { name: 'Create and start' }).click()
  await page.waitForURL(/\/GUL\/issues\/GUL-1$|\/GS\/issues\/GS-1$/)
  await page.locator('.properties').getByText('Done', { exact: true }).first().waitFor({ timeout: 60_000 })
  assert.deepEqual(faults, [])
})
