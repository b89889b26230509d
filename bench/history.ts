/**
 * Measures each read after a long history and after a short one, in one run. The
 * length of the history must not slow down what a screen shows. Prints the
 * slowest reads, and exits with 1 if a read exceeds its limit.
 */
import { serve, withFolder } from './process.ts'
import { type Ids, seedHistory } from './seed-history.ts'

/** The numbers of issues. Each issue has two comments, half a run, two costs and five activities. */
const SHORT = 1_000
const LONG = 100_000

/** The limits of a read: a factor over its time after the short history, or an absolute time in milliseconds. */
const ALLOWED = { times: 3, ms: 20 }

const ASKED = 7

/** Further reads of pages and agents: filtered lists, counts, searches, and ranges of days. */
const FILTERED = [
  '/api/companies/{companyId}/issues?status=todo,in_progress&limit=50',
  '/api/companies/{companyId}/issues?status=done&limit=50',
  '/api/companies/{companyId}/issues?assigneeAgentId={agentId}&status=todo,in_progress,blocked',
  '/api/companies/{companyId}/issues?projectId={projectId}&limit=50',
  '/api/companies/{companyId}/issues?limit=50&count=true',
  '/api/companies/{companyId}/issues?q=harbour&limit=50',
  '/api/companies/{companyId}/search?q=number',
  '/api/companies/{companyId}/activity?limit=50',
  '/api/companies/{companyId}/activity?agentId={agentId}&limit=50',
  '/api/companies/{companyId}/activity?action=issue.created&limit=50',
  '/api/companies/{companyId}/activity?agentId={agentId}&action=issue.updated&limit=50',
  '/api/companies/{companyId}/activity?since=2026-01-01T00:00:00.000Z&limit=50',
  '/api/companies/{companyId}/runs?limit=50',
  '/api/companies/{companyId}/runs?agentId={agentId}&limit=50',
  '/api/companies/{companyId}/runs?status=failed&limit=50',
  '/api/companies/{companyId}/approvals?status=pending',
  '/api/companies/{companyId}/costs/summary?from=2020-01-01',
  '/api/companies/{companyId}/costs/by-model?from=2020-01-01',
  '/api/companies/{companyId}/costs/by-day?from=2020-01-01',
]

/** The reads of the whole history, whose time grows with it. They are printed and have no limit. */
const OF_ALL = new Set([
  // A word in every issue, sorted by urgency.
  '/api/companies/{companyId}/issues?q=number&limit=50',
  '/api/companies/{companyId}/activity?limit=50&count=true',
  '/api/companies/{companyId}/costs/by-agent?from=2020-01-01',
  '/api/companies/{companyId}/costs/by-issue?from=2020-01-01',
  '/api/companies/{companyId}/cost-events.csv',
])

const print = (line: string) => process.stdout.write(`${line}\n`)

await withFolder((short) =>
  withFolder(async (long) => {
    const few = await timesOf(short, SHORT)
    const many = await timesOf(long, LONG)
    const rows = [...many].map(([what, ms]) => ({ what, ms, times: ms / few.get(what)! }))
    print(`${'read'.padEnd(78)}${'short'.padStart(9)}${'long'.padStart(9)}${'times'.padStart(7)}`)
    for (const { what, ms, times } of rows.toSorted((a, b) => b.ms - a.ms).slice(0, 25)) {
      const isSlow = times > ALLOWED.times && ms > ALLOWED.ms && !OF_ALL.has(what)
      if (isSlow) process.exitCode = 1
      const figures = `${few.get(what)!.toFixed(1).padStart(7)}ms${ms.toFixed(1).padStart(7)}ms${times.toFixed(1).padStart(7)}`
      print(`${what.padEnd(78)}${figures}${isSlow ? '  SLOW' : OF_ALL.has(what) ? '  reads the whole history' : ''}`)
    }
  }),
)

/** Returns the median time of each API read that needs only ids, in milliseconds. */
async function timesOf(dataDir: string, issues: number): Promise<Map<string, number>> {
  const ids = seedHistory(dataDir, issues)
  const server = await serve('service', dataDir)
  const base = `http://127.0.0.1:${server.port}`
  const document = await (await fetch(`${base}/api/openapi.json`)).json()
  const { paths } = document as { paths: Record<string, Record<string, unknown>> }
  const reads = Object.keys(paths)
    .filter((path) => paths[path]!.get && !path.endsWith('/events') && !path.endsWith('/check'))
    .filter((path) => (path.match(/\{\w+\}/g) ?? []).every((name) => name.slice(1, -1) in ids))
  const times = new Map<string, number>()
  for (const read of [...reads, ...FILTERED, ...OF_ALL]) {
    const target = base + read.replace(/\{(\w+)\}/g, (_, name: keyof Ids) => ids[name])
    const taken: number[] = []
    for (let i = 0; i < ASKED; i++) {
      const begun = performance.now()
      const response = await fetch(target, { redirect: 'manual' })
      await response.arrayBuffer()
      taken.push(performance.now() - begun)
      if (response.status >= 500) throw new Error(`${read}: ${response.status}`)
    }
    times.set(read, taken.toSorted((a, b) => a - b)[Math.floor(ASKED / 2)]!)
  }
  await server.stop()
  return times
}
