/**
 * Measures the import of a package with 170 agents, from the request to the
 * response, on a separate server: the median of five. Exits with 1 if it takes
 * a second or more.
 */
import { serve, withFolder } from './process.ts'

const GOAL_MS = 1_000

const files: Record<string, string> = { 'COMPANY.md': '---\nname: Big\nlicense: MIT\n---\n' }
for (let n = 0; n < 170; n++) {
  const manager = n === 0 ? 'null' : `a${Math.floor((n - 1) / 8)}`
  files[`agents/a${n}/AGENTS.md`] = `---\nname: Agent ${n}\nreportsTo: ${manager}\n---\n${'Work well. '.repeat(200)}\n`
}

await withFolder(async (dataDir) => {
  const server = await serve('service', dataDir)
  const times: number[] = []
  for (let i = 0; i < 5; i++) {
    const started = performance.now()
    const response = await fetch(`http://127.0.0.1:${server.port}/api/companies/import/apply`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ source: { type: 'inline', files }, target: { mode: 'new_company' } }),
    })
    if (response.status !== 201) throw new Error(await response.text())
    await response.text()
    times.push(performance.now() - started)
  }
  await server.stop()
  const median = times.toSorted((a, b) => a - b)[2]!
  process.stdout.write(`import of 170 agents: ${times.map((ms) => ms.toFixed(0)).join(', ')} ms\n`)
  if (median >= GOAL_MS) process.exitCode = 1
})
