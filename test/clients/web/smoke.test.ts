import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_CHROMIUM } from '../../browser/chromium.ts'
import { openPage } from './page.ts'

test('a person lists the issues, opens one, comments on it and closes another', { skip: NO_CHROMIUM }, async (t) => {
  const { url, open, faults } = await openPage(t)
  const post = async (path: string, body: unknown) =>
    (
      await fetch(`${url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    ).json() as Promise<{ id: string }>
  const company = await post('/api/companies', { name: 'Tern' })
  await post(`/api/companies/${company.id}/issues`, { title: 'Draw the curve' })
  await post(`/api/companies/${company.id}/issues`, { title: 'Print the table', status: 'backlog' })
  const page = await open()
  await page.goto(`${url}/TER/issues`)
  await page.getByRole('link', { name: 'Draw the curve' }).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${url}/TER/issues/TER-1`)
  await page.getByLabel('Comment', { exact: true }).fill('It is **drawn**.')
  await page.getByRole('button', { name: 'Comment' }).click()
  await page.locator('.comment strong', { hasText: 'drawn' }).waitFor()
  await page.getByRole('button', { name: 'Close as done' }).click()
  await page.getByText('TER-1 is done.').waitFor()

  // Changes by another client are displayed without a reload.
  await page
    .getByRole('button', { name: 'Back to the issues' })
    .or(page.getByRole('link', { name: 'Back to the issues' }))
    .click()
  await post(`/api/companies/${company.id}/issues`, { title: 'Made elsewhere' })
  await page.getByRole('link', { name: 'Made elsewhere' }).waitFor()
  assert.deepEqual(faults, [])
})
