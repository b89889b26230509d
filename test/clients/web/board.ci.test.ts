import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { NO_CHROMIUM } from '../../browser/chromium.ts'
import { openPage } from './page.ts'

/** A program that prints one line immediately and another line after one second. */
const TALKER = `console.log('the first words'); setTimeout(() => console.log('the last words'), 1000)`

/** A PNG of one pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

test('the board works in the browser', { skip: NO_CHROMIUM }, async (t) => {
  const { url, open, faults } = await openPage(t)
  // biome-ignore lint/suspicious/noExplicitAny: a few fields of many responses are read.
  const call = async (method: string, path: string, body?: unknown): Promise<any> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    assert.ok(response.ok, `${method} ${path}: ${response.status}`)
    return response.json()
  }
  const company = await call('POST', '/api/companies', { name: 'Tern' })
  const at = `/api/companies/${company.id}`
  const page = await open()
  const goTo = (path: string) => page.goto(`${url}/TER/${path}`)

  await t.test('approving a hire in the inbox adds the agent', async () => {
    await call('PATCH', at, { requireBoardApprovalForNewAgents: true })
    await call('POST', `${at}/agent-hires`, { name: 'Otto', title: 'Engineer', adapterType: 'none' })
    await call('PATCH', at, { requireBoardApprovalForNewAgents: false })
    await goTo('inbox')
    await page.getByRole('button', { name: 'Approve hire' }).click()
    await page.getByText('Your inbox is empty.').waitFor()
    await page.getByRole('link', { name: 'Agents', exact: true }).click()
    await page.getByRole('heading', { name: 'Ready' }).waitFor()
    await page.getByRole('link', { name: 'Otto' }).click()
    await page.waitForURL(`${url}/TER/agents/otto`)
  })

  await t.test('a person hires an agent in the browser', async () => {
    await goTo('agents')
    await page.getByRole('button', { name: 'Hire' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name', { exact: true }).fill('Mara')
    await dialog.getByLabel('Adapter').selectOption({ label: 'None: an external agent' })
    await dialog.getByRole('button', { name: 'Hire' }).click()
    await page.waitForURL(`${url}/TER/agents/mara`)
  })

  await t.test('a drag that the server refuses is reverted, with the reason', async () => {
    await call('POST', `${at}/issues`, { title: 'Draw the curve', status: 'backlog' })
    await goTo('issues?view=board')
    const card = page.locator('.card', { hasText: 'Draw the curve' })
    await card.dragTo(page.getByRole('region', { name: 'In review' }))
    await page.getByText('TER-1 is backlog and cannot become in_review.').waitFor()
    await page.getByRole('region', { name: 'Backlog' }).getByText('Draw the curve').waitFor()
  })

  await t.test('the log of a run is displayed while it is written', async () => {
    const agent = await call('POST', `${at}/agents`, {
      name: 'Kit',
      adapterType: 'process',
      adapterConfig: { command: process.execPath, args: ['-e', TALKER] },
    })
    await call('POST', `/api/agents/${agent.id}/heartbeat/invoke`)
    await goTo('runs')
    await page.locator('.runs-row .row-link').first().click()
    await page.getByText('the first words').waitFor()
    await page.getByText('the last words').waitFor()
    await page.getByText('Succeeded').waitFor()
  })

  await t.test('a spent budget and a freeze are displayed on every page, with the action to resolve them', async () => {
    await call('PATCH', `${at}/budgets`, { budgetMonthlyCents: 100 })
    const [agent] = await call('GET', `${at}/agents`)
    await call('POST', `${at}/cost-events`, {
      agentId: agent.id,
      provider: 'demo',
      model: 'demo',
      inputTokens: 1,
      outputTokens: 1,
      costCents: 150,
    })
    await goTo('goals')
    await page.getByText('Paused: the company has spent $1.50 of its $1.00 for this month.').waitFor()
    await call('PATCH', `${at}/budgets`, { budgetMonthlyCents: 0 })
    await page.getByText('Paused: the company').waitFor({ state: 'detached' })

    await call('POST', '/api/instance/freeze', { reason: 'A look at the costs.' })
    await page.getByText('A look at the costs.').waitFor()
    await page.getByRole('button', { name: 'Thaw' }).click()
    await page.getByText('Everything is frozen').waitFor({ state: 'detached' })

    await page.keyboard.press('Control+.')
    await page.getByRole('button', { name: 'Stop everything' }).click()
    await page.getByText('nothing starts in this company').waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByText('nothing starts in this company').waitFor({ state: 'detached' })
  })

  await t.test('a budget is edited in place: Enter saves it once, and Escape keeps it', async () => {
    await call('PATCH', `${at}/budgets`, { budgetMonthlyCents: 7_500 })
    await goTo('costs')
    const sent: unknown[] = []
    page.on('request', (request) => request.method() === 'PATCH' && sent.push(request.postDataJSON()))
    const budget = page.getByTitle('Change the budget of Tern')
    const field = page.getByLabel('Monthly budget of Tern in dollars')
    await budget.click()
    await field.fill('3')
    await field.press('Escape')
    await budget.click()
    await field.fill('80')
    const isSaved = page.waitForResponse((response) => response.request().method() === 'PATCH')
    await field.press('Enter')
    await isSaved
    await budget.getByText('$80.00').waitFor()
    assert.deepEqual(sent, [{ budgetMonthlyCents: 8_000 }])
    await call('PATCH', `${at}/budgets`, { budgetMonthlyCents: 0 })
  })

  await t.test('a main button keeps its color while the pointer is over it', async () => {
    await goTo('issues')
    const button = page.getByRole('button', { name: 'New issue' }).first()
    const colors = () =>
      button.evaluate(`(element) => [getComputedStyle(element).color, getComputedStyle(element).backgroundColor]`)
    await button.waitFor()
    await page.emulateMedia({ reducedMotion: 'reduce' })
    const before = await colors()
    await button.hover()
    assert.deepEqual(await colors(), before)
    await page.emulateMedia({ reducedMotion: 'no-preference' })
  })

  await t.test('a template is imported after a preview', async () => {
    await goTo('import')
    await page.getByLabel('Template').selectOption({ label: 'Research Desk' })
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.getByRole('button', { name: /^Import \d+ things$/ }).click()
    await page.getByText(/things imported/).waitFor()
    await page.getByRole('link', { name: 'Agents', exact: true }).click()
    await page.getByRole('link', { name: 'Vera' }).waitFor()
  })

  await t.test('a document is written on an issue, and a file is attached to it', async () => {
    await goTo('issues/TER-1')
    await page.getByRole('heading', { name: 'Draw the curve' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByLabel('Search issues, agents and commands').fill('New document')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByLabel('Text').fill('First the axes.')
    await page.getByRole('button', { name: 'Create document' }).click()
    await page.getByRole('button', { name: /^Plan/ }).click()
    await page.getByText('First the axes.').waitFor()
    await page
      .locator('.composer input[type=file]')
      .setInputFiles({ name: 'tides.txt', mimeType: 'text/plain', buffer: Buffer.from('1.2 m') })
    await page.getByRole('region', { name: 'Attachments' }).getByText('tides.txt').waitFor()
  })

  await t.test('files are attached once each by paste and by drop', async () => {
    const give = (event: string, name: string, target: string) =>
      page.evaluate(`{
        const data = new DataTransfer()
        data.items.add(new File(['1.2 m'], '${name}', { type: 'text/plain' }))
        const options = { bubbles: true, cancelable: true, clipboardData: data, dataTransfer: data }
        document.querySelector('${target}').dispatchEvent(new ${event}, options))
      }`)
    const attached = page.getByRole('region', { name: 'Attachments' })
    await give("ClipboardEvent('paste'", 'pasted.txt', '.composer textarea')
    await attached.getByText('pasted.txt').waitFor()
    await give("DragEvent('drop'", 'on-the-comment.txt', '.composer textarea')
    await attached.getByText('on-the-comment.txt').waitFor()
    await give("DragEvent('drop'", 'on-the-page.txt', '.detail-main')
    await attached.getByText('on-the-page.txt').waitFor()
    assert.match(await page.getByLabel('Comment', { exact: true }).inputValue(), /pasted\.txt.*on-the-comment\.txt/s)
    assert.equal((await call('GET', '/api/issues/TER-1/attachments')).length, 4)
    await page.getByLabel('Comment', { exact: true }).fill('')
  })

  await t.test('a company gets a logo, which its mark displays, and loses it again', async () => {
    await goTo('settings')
    await page.getByText('Upload a logo').waitFor()
    await page
      .locator('input[type=file]')
      .first()
      .setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: PIXEL })
    const mark = page.locator('.settings-mark img')
    await mark.waitFor()
    await page.waitForFunction(`document.querySelector('.settings-mark img').naturalWidth === 1`)
    await page.getByRole('button', { name: 'Remove it' }).click()
    await mark.waitFor({ state: 'detached' })
  })

  await t.test('a label is created and added to an issue with only the keyboard', async () => {
    await goTo('issues/TER-1')
    await page.getByRole('heading', { name: 'Draw the curve' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('add a new label')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'New label' }).waitFor()
    await page.keyboard.type('bug')
    await page.keyboard.press('Enter')
    await page.locator('.properties .tag', { hasText: 'bug' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('remove label bug')
    await page.getByRole('option', { name: 'Remove label bug', selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.locator('.properties .tag', { hasText: 'bug' }).waitFor({ state: 'detached' })
  })

  await t.test('the palette offers the buttons of a page with a list', async () => {
    await goTo('issues')
    await page.getByRole('button', { name: 'Add a filter' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('add a filter')
    await page.getByRole('option', { name: 'Add a filter', selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('option', { name: 'Assignee' }).waitFor()
    await page.keyboard.press('Escape')
  })

  await t.test('an agent gets a read-only key with an expiry time', async () => {
    await goTo('agents/otto?tab=keys')
    await page.getByRole('button', { name: 'Create a key' }).click()
    await page.getByRole('dialog').getByLabel('May').selectOption('read')
    await page.getByRole('button', { name: 'Create the key' }).click()
    await page.getByText('Copy the key now').waitFor()
    await page.getByRole('cell', { name: 'read', exact: true }).waitFor()
    await page.getByRole('cell', { name: 'in 90 d' }).or(page.locator('td time')).first().waitFor()
  })

  await t.test('an issue that an agent commented on is unread until a person opens it', async () => {
    const agent = await call('POST', `${at}/agents`, { name: 'Ines', adapterType: 'none' })
    const { token } = await call('POST', `/api/agents/${agent.id}/keys`, {})
    const issue = await call('POST', `${at}/issues`, { title: 'Print the table', status: 'backlog' })
    await fetch(`${url}/api/issues/${issue.id}/comments`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ body: 'Which paper?' }),
    })
    await goTo('issues?unread=true')
    const row = page.locator('.issue-row.unread', { hasText: 'Print the table' })
    const isRead = page.waitForResponse((response) => response.url().endsWith(`/api/issues/${issue.id}/read`))
    await row.getByRole('link').click()
    await isRead
    await page.keyboard.press('Escape')
    await page.waitForURL(`${url}/TER/issues?unread=true`)
    await row.waitFor({ state: 'detached' })
  })

  await t.test('a webhook is added, tested and deleted', async () => {
    await goTo('webhooks')
    await page.getByRole('button', { name: 'Add the first webhook' }).click()
    await page.getByRole('dialog').getByLabel('URL').fill('https://build.example.com/hooks')
    await page.getByRole('button', { name: 'Add webhook' }).click()
    await page.getByText(/^whsec_/).waitFor()
    await page.getByRole('link', { name: /build\.example\.com/ }).click()
    await page.getByRole('button', { name: 'Send a test event' }).click()
    await page.getByRole('cell', { name: 'webhook.test', exact: true }).waitFor()
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('option', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete the webhook' }).click()
    await page.getByText('No webhooks yet.').waitFor()
  })

  await t.test('a placement is added, tested with the reason of the failure, and removed', async () => {
    await goTo('placements')
    await page.getByRole('button', { name: 'Add a placement' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name', { exact: true }).fill('lab')
    await dialog.getByLabel('Host').fill('lab.invalid')
    await dialog.getByLabel('ssh configuration').fill('/dev/null')
    await dialog.getByRole('button', { name: 'Add placement' }).click()
    await page.getByRole('button', { name: 'Test', exact: true }).click()
    await page.getByRole('list', { name: 'Result of the test' }).getByRole('img', { name: 'failed' }).waitFor()
    await page.getByRole('button', { name: 'More actions: lab' }).click()
    await page.getByRole('option', { name: 'Remove' }).click()
    await page.getByRole('button', { name: 'Remove the placement' }).click()
    await page.getByText('All runs execute on the machine of the server.').waitFor()
  })

  await t.test('a page that was offline displays the changes made in the meantime', async () => {
    await goTo('issues')
    await page.getByRole('link', { name: 'Draw the curve' }).waitFor()
    faults.length = 0
    await page.context().setOffline(true)
    await page.getByText('No connection to the server.').waitFor()
    await call('POST', `${at}/issues`, { title: 'Made while nobody looked' })
    await page.context().setOffline(false)
    await page.getByRole('link', { name: 'Made while nobody looked' }).waitFor()
    await page.getByText('No connection to the server.').waitFor({ state: 'detached' })
    faults.length = 0
  })

  await t.test('several tabs share one event stream, and another tab takes it over', async () => {
    const streams = new Set<Page>()
    const tab = async () => {
      const opened = await page.context().newPage()
      opened.on('request', (request) => request.url().endsWith('/events') && streams.add(opened))
      await opened.goto(`${url}/TER/issues`)
      await opened.getByRole('link', { name: 'Draw the curve' }).waitFor()
      return opened
    }
    const [second, third] = [await tab(), await tab()]
    await call('POST', `${at}/issues`, { title: 'Seen in all tabs' })
    for (const one of [page, second, third]) await one.getByRole('link', { name: 'Seen in all tabs' }).waitFor()
    assert.equal(streams.size, 0, 'the first tab reads for the others')
    await page.close()
    await call('POST', `${at}/issues`, { title: 'Seen after the first tab closed' })
    await third.getByRole('link', { name: 'Seen after the first tab closed' }).waitFor()
    assert.equal(streams.size, 1)
  })
  // The browser logs the 422 of the refused drag.
  assert.deepEqual(
    faults.filter((fault) => !fault.includes('422')),
    [],
  )
})
