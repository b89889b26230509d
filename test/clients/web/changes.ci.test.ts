import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { NO_CHROMIUM } from '../../browser/chromium.ts'
import { openPage } from './page.ts'

/** A program that commits one change and leaves another uncommitted. */
const CODER = `
  echo 'export const high = 2' >> tide.ts
  git -c user.name=Kit -c user.email=kit@example.com commit -qam 'Add high water'
  echo 'a note' > notes.txt
`

test('the changes of an issue are displayed with branch, commit and patch', { skip: NO_CHROMIUM }, async (t) => {
  const repository = mkdtempSync(path.join(tmpdir(), 'service-web-'))
  t.after(() => rmSync(repository, { recursive: true, force: true }))
  writeFileSync(path.join(repository, 'tide.ts'), 'export const low = 1\n')
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.com', ...args], { cwd: repository })
  git('init', '-q', '-b', 'main')
  git('add', '.')
  git('commit', '-qm', 'Begin')
  const { url, open, faults } = await openPage(t, { environment: { PATH: process.env.PATH ?? '' } })
  // biome-ignore lint/suspicious/noExplicitAny: a few fields of a few responses are read.
  const call = async (method: string, at: string, body?: unknown): Promise<any> => {
    const response = await fetch(`${url}${at}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    assert.ok(response.ok, `${method} ${at}: ${response.status}`)
    return response.json()
  }
  const company = await call('POST', '/api/companies', { name: 'Tern' })
  const agent = await call('POST', `/api/companies/${company.id}/agents`, {
    name: 'Kit',
    adapterType: 'process',
    adapterConfig: { command: 'sh', args: ['-c', CODER] },
  })
  const project = await call('POST', `/api/companies/${company.id}/projects`, { name: 'Tide table' })
  await call('POST', `/api/projects/${project.id}/workspaces`, { cwd: repository })

  // The test enables the isolation of the workspace in the browser.
  const page = await open()
  await page.goto(`${url}/TER/projects/${project.id}`)
  await page.getByRole('region', { name: 'Workspaces' }).getByRole('button', { name: 'Change' }).click()
  await page.getByLabel('Where an issue is worked on').selectOption('worktree')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('worktree for each issue').waitFor()

  const issue = await call('POST', `/api/companies/${company.id}/issues`, {
    title: 'Draw the curve',
    projectId: project.id,
    assigneeAgentId: agent.id,
  })
  await page.goto(`${url}/TER/issues/${issue.identifier}`)
  const changes = page.getByRole('region', { name: 'Changes' })
  await changes.getByText('Add high water').waitFor()
  await changes.getByText('service/ter-1', { exact: true }).waitFor()
  await changes.getByText('uncommitted changes').waitFor()
  await changes.getByRole('button', { name: 'tide.ts' }).click()
  await changes.locator('.diff .added', { hasText: 'export const high = 2' }).waitFor()

  const [run] = await call('GET', `/api/companies/${company.id}/runs`)
  await page.goto(`${url}/TER/runs/${run.id}`)
  await page.getByRole('button', { name: 'Changes', exact: true }).click()
  await page.getByRole('button', { name: 'notes.txt' }).waitFor()
  assert.deepEqual(faults, [])
})
