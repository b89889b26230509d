/**
 * Compares the CPU time of a request with that of another commit:
 * `npm run bench:compare [-- commit]`. The default is the previous commit.
 *
 * Both servers run in turn on the same machine, so that the machine's speed
 * does not count. Exits 1 if a scenario takes over 20 % more.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { measure } from './load.ts'
import { cpuSeconds, type ServerProcess, serveFrom, withFolder } from './process.ts'
import { requestOf, SCENARIOS, type Scenario } from './scenarios.ts'
import { type Seeded, seed } from './seed.ts'

const ALLOWED = 1.2
const ISSUES = 2_000
const ROUNDS = 5

const root = path.dirname(import.meta.dirname)
const git = (...args: string[]) => execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' }).trim()
const print = (line: string) => process.stdout.write(`${line}\n`)

await withFolder(async (folder) => {
  const commit = git('rev-parse', process.argv[2] ?? 'HEAD~1')
  const before = path.join(folder, 'before')
  git('worktree', 'add', '--detach', before, commit)
  try {
    symlinkSync(path.join(root, 'node_modules'), path.join(before, 'node_modules'))
    await compare(folder, { before: path.join(before, 'bench'), now: import.meta.dirname })
  } finally {
    git('worktree', 'remove', '--force', before)
  }
})

async function compare(folder: string, checkouts: { before: string; now: string }): Promise<void> {
  // The older schema may differ, so each server gets a database of its own checkout. Ids are the same in both.
  const dataDirs = { before: path.join(folder, 'data-before'), now: path.join(folder, 'data-now') }
  mkdirSync(dataDirs.now)
  const seeded = seed(dataDirs.now, ISSUES)
  cpSync(dataDirs.now, dataDirs.before, { recursive: true })
  const servers = {
    before: await serveFrom(checkouts.before, { args: ['service', dataDirs.before] }),
    now: await serveFrom(checkouts.now, { args: ['service', dataDirs.now] }),
  }
  print(`${'CPU µs a request'.padEnd(26)}${['before', 'now', 'ratio'].map((name) => name.padStart(9)).join('')}`)
  for (const scenario of SCENARIOS) {
    const micros = { before: [] as number[], now: [] as number[] }
    for (let round = 0; round < ROUNDS; round++) {
      for (const which of ['before', 'now'] as const) {
        micros[which].push(await cpuMicros(scenario, seeded, servers[which], round))
      }
    }
    // The least is the one that other programs disturbed least. The first round warms up.
    const [before, now] = [Math.min(...micros.before.slice(1)), Math.min(...micros.now.slice(1))]
    const ratio = now / before
    const isSlower = ratio > ALLOWED
    if (isSlower) process.exitCode = 1
    const figures = [before.toFixed(0), now.toFixed(0), ratio.toFixed(2)]
    print(
      `${scenario.name.padEnd(26)}${figures.map((figure) => figure.padStart(9)).join('')}${isSlower ? '  SLOWER' : ''}`,
    )
  }
  await Promise.all([servers.before.stop(), servers.now.stop()])
}

async function cpuMicros(
  scenario: Scenario,
  seeded: Seeded,
  { port, pid }: ServerProcess,
  round: number,
): Promise<number> {
  const requests = Math.min(scenario.requests, 1_500)
  const before = cpuSeconds(pid)
  await measure(port, { clients: scenario.clients, requests }, (n) =>
    requestOf(scenario, seeded, port, round * requests + n),
  )
  return ((cpuSeconds(pid) - before) / requests) * 1e6
}
