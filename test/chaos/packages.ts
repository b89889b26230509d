/**
 * Imports and exports large packages: `npm run prove:packages [-- --limit 50]`.
 *
 * The app runs in this thread. The CPU time that one turn of the event loop
 * takes is the time that other requests wait.
 */
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { strToU8, zipSync } from 'fflate'
import { createApp } from '../../src/app.ts'
import { sql } from '../../src/platform/database/sql.ts'
import { insertAgent, insertCompany, insertManyIssues } from '../arrange.ts'
import { createTestApp } from '../helpers.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Returns the CPU time of the turn that takes the most, in milliseconds. */
async function worstTurn(work: () => Promise<unknown>): Promise<number> {
  // Otherwise a turn of the work pays for the garbage of its preparation.
  collectGarbage()
  let worst = 0
  let isOver = false
  let last = process.threadCpuUsage()
  const endTurn = () => {
    const { user, system } = process.threadCpuUsage(last)
    worst = Math.max(worst, (user + system) / 1_000)
    last = process.threadCpuUsage()
    if (!isOver) setImmediate(endTurn)
  }
  setImmediate(endTurn)
  await work()
  isOver = true
  endTurn()
  return worst
}

const skillText = (n: number, size: number) =>
  `---\nname: skill ${n}\ndescription: Does ${n}.\n---\n${'Do it well. '.repeat(size / 12)}`

const skills = (count: number, size: number, folder = '') =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`${folder}s${n}/SKILL.md`, skillText(n, size)]))

const zipOf = (files: Record<string, string>) =>
  zipSync(Object.fromEntries(Object.entries(files).map(([path, text]) => [path, strToU8(text)])))

/** Returns a download as it arrives: in pieces, each in its own turn of the event loop. */
async function* piecesOf(download: Uint8Array<ArrayBuffer>) {
  for (let at = 0; at < download.length; at += PIECE_BYTES) {
    await nextTurn()
    yield download.slice(at, at + PIECE_BYTES)
  }
}

const PIECE_BYTES = 64 * 1024

/** Measures each import and export. @returns the worst turn of each, by its name */
export async function measurePackages(t: TestContext, scale = 1): Promise<Record<string, number>> {
  const app = createTestApp(t, { selfCheck: false })
  const api = createApp(app.ctx, app.ctx.tokens)
  const companyId = insertCompany(app.ctx)
  const measured: Record<string, number> = {}
  const measure = async (what: string, path: string, body: object) => {
    const init = { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    measured[what] = await worstTurn(async () => {
      const response = await api.request(path, init)
      const text = await response.text()
      if (response.status >= 300) throw new Error(`${what}: ${response.status} ${text.slice(0, 300)}`)
    })
  }
  const of = (rest: string) => `/api/companies/${companyId}${rest}`
  const github = (archive: Uint8Array<ArrayBuffer>) =>
    t.mock.method(globalThis, 'fetch', async () => new Response(ReadableStream.from(piecesOf(archive))))
  const count = (n: number) => Math.round(n * scale)

  await measure('import of 1,900 skills', of('/skills/import'), { files: skills(count(1_900), 2_000) })
  github(zipOf(skills(count(1_900), 2_000, 'repo-main/')))
  await measure('archive of 1,900 skills', of('/skills/import'), { source: 'https://github.com/a/b' })
  const paths = Array.from({ length: count(49_000) }, (_, n) => `repo-main/src/folder${n % 300}/deeper/file${n}.txt`)
  github(zipOf({ ...Object.fromEntries(paths.map((path) => [path, ''])), ...skills(1, 2_000, 'repo-main/') }))
  await measure('archive of 49,000 files', of('/skills/import'), { source: 'https://github.com/a/c' })
  const deep = Array.from({ length: count(10_000) }, (_, n) => `repo-main/${'a/'.repeat(1_000)}${n}`)
  github(zipOf({ ...Object.fromEntries(deep.map((path) => [path, ''])), ...skills(1, 2_000, 'repo-main/') }))
  await measure('archive of 10,000 deep folders', of('/skills/import'), { source: 'https://github.com/a/d' })
  github(zipOf({ 'repo/COMPANY.md': '---\nname: Big\n---\nText.', ...skills(count(1_500), 12_000, 'repo/skills/') }))
  const source = { type: 'github', url: 'https://github.com/a/b' }
  for (const what of ['preview', 'apply']) {
    const body = { source, target: { mode: 'new_company' } }
    await measure(`${what} of a package of 18 MB`, `/api/companies/import/${what}`, body)
  }
  const agent = insertAgent(app, { company_id: companyId })
  insertManyIssues(app.ctx, agent, count(12_000))
  app.ctx.db.run(sql.updateTable('issue').set({ description: 'Describe it. '.repeat(60) }))
  // Adds the texts to the search index. Otherwise the first write of an export would do it.
  await app.ctx.write(() => undefined)
  for (const what of ['exports/preview', 'exports']) {
    await measure(`${what} with 8,500 issues`, of(`/${what}`), { include: { issues: true, skills: false } })
  }
  return measured
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { limit: { type: 'string', default: '50' } } })
  test('no import or export takes the main thread longer than the limit', { timeout: 600_000 }, async (t) => {
    // The first time also compiles the code.
    const [first, second] = [await measurePackages(t), await measurePackages(t)]
    const measured = Object.fromEntries(Object.entries(first).map(([what, ms]) => [what, Math.min(ms, second[what]!)]))
    for (const [what, ms] of Object.entries(measured)) t.diagnostic(`${ms.toFixed(1).padStart(7)} ms  ${what}`)
    const over = Object.values(measured).filter((ms) => ms > Number(values.limit))
    if (over.length > 0) throw new Error(`${over.length} take longer than ${values.limit} ms.`)
  })
}
