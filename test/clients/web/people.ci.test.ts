import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PASSWORD } from '../../access/auth/people.ts'
import { NO_CHROMIUM } from '../../browser/chromium.ts'
import { openPage } from './page.ts'

test('an owner invites a viewer, who sees everything and is offered nothing', { skip: NO_CHROMIUM }, async (t) => {
  const { url, open, server, faults } = await openPage(t, { mode: 'authenticated' })
  const owner = await open()
  await owner.goto(`${url}/setup?token=${server.ctx.signIn.setup!.token}`)
  await owner.getByLabel('Your name').fill('Olga')
  await owner.getByLabel('E-mail').fill('olga@example.com')
  await owner.getByLabel('Password').fill(PASSWORD)
  await owner.getByRole('button', { name: 'Create the account' }).click()
  await owner.waitForURL(`${url}/welcome`)
  await owner.getByLabel('Company name').fill('Tern')
  await owner.getByRole('radio', { name: 'Demo agent' }).check()
  await owner.getByRole('button', { name: 'Create the company' }).click()
  await owner.waitForURL(`${url}/TER/inbox`)
  await owner.getByRole('heading', { name: 'Inbox' }).waitFor()
  await owner.getByText('Nothing waits for you.').waitFor()
  await owner.keyboard.press('c')
  await owner.getByRole('dialog').getByLabel('Title').fill('Draw the curve')
  await owner.getByRole('button', { name: 'Create issue' }).click()
  await owner.waitForURL(`${url}/TER/issues/TER-1`)

  await owner.goto(`${url}/TER/members`)
  await owner.getByRole('button', { name: 'Invite a person' }).click()
  await owner.getByLabel('Role').selectOption('viewer')
  await owner.getByRole('button', { name: 'Create the link' }).click()
  const link = await owner.locator('.copyable code').textContent()

  const viewer = await open()
  await viewer.goto(link!)
  await viewer.getByLabel('Your name').fill('Vera')
  await viewer.getByLabel('E-mail').fill('vera@example.com')
  await viewer.getByLabel('Password').fill(PASSWORD)
  await viewer.getByRole('button').first().click()
  await viewer.waitForURL(`${url}/TER/inbox`)
  await viewer.goto(`${url}/TER/issues/TER-1`)
  await viewer.getByRole('heading', { name: 'Draw the curve' }).waitFor()
  await viewer.getByText('A member can comment here.').waitFor()
  assert.equal(await viewer.getByRole('button', { name: 'Close as done' }).count(), 0)
  assert.equal(await viewer.getByRole('button', { name: 'Stop' }).count(), 0)
  await viewer.keyboard.press('c')
  assert.equal(await viewer.getByRole('dialog').count(), 0)

  // What the owner does is on the viewer's screen.
  await owner.goto(`${url}/TER/issues/TER-1`)
  await owner.getByRole('button', { name: 'Close as done' }).click()
  await viewer.locator('.properties').getByText('Done', { exact: true }).first().waitFor()
  assert.deepEqual(faults, [])
})
