/**
 * Compares the CPU time of a request with that of another commit:
 * `npm run bench:compare [-- commit]`. The default is the previous commit.
 *
 * Both servers run in turn on the same machine, so that the machine's speed
 * does not count. Exits 1 if a scenario takes over 20 % more, also with other
 * processes of both servers. Compares nothing if the source is the same, if the
 * other commit is not there, or if its server does not start with the packages
 * of this one.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { type ServerProcess, serveFrom, withFolder } from './process.ts'
import { measureRound } from './round.ts'
import { SCENARIOS, type Scenario } from './scenarios.ts'
import type { Seeded, seed } from './seed.ts'

const ALLOWED = 1.2
const ISSUES = 2_000
const ROUNDS = 8
/**
 * The number of processes that must each be slower. Two processes of the same
 * source differ by up to 40 % for a while, because each compiles and collects
 * garbage at other times.
 */
const PROCESSES = 4
/** The most requests in a round, so that the whole comparison takes about a minute. */
const REQUESTS = 300

type Both<T> = Record<'before' | 'now', T>

const root = path.dirname(import.meta.dirname)
const git = (...args: string[]) => execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' }).trim()
const print = (line: string) => process.stdout.write(`${line}\n`)

await withFolder(async (folder) => {
  const commit = findCommit(process.argv[2] ?? 'HEAD~1')
  if (commit === undefined) {
    print('There is no other commit to compare with.')
    return
  }
  if (git('diff', '--name-only', commit, '--', 'src', 'bench', 'package-lock.json') === '') {
    print('The source of the other commit is the same: nothing is compared.')
    return
  }
  const before = path.join(folder, 'before')
  git('worktree', 'add', '--detach', before, commit)
  try {
    symlinkSync(path.join(root, 'node_modules'), path.join(before, 'node_modules'))
    await compare(folder, { before: path.join(before, 'bench'), now: import.meta.dirname })
  } finally {
    git('worktree', 'remove', '--force', before)
  }
})

function findCommit(name: string): string | undefined {
  try {
    return git('rev-parse', '--verify', '--quiet', `${name}^{commit}`)
  } catch {
    return undefined
  }
}

async function compare(folder: string, checkouts: Both<string>): Promise<void> {
  const dataDirs = { before: path.join(folder, 'data-before'), now: path.join(folder, 'data-now') }
  const now = await seedFrom(checkouts.now, dataDirs.now)
  const before = await seedFrom(checkouts.before, dataDirs.before).catch(() => undefined)
  const started = before && (await startBoth(checkouts, dataDirs).catch(() => undefined))
  if (!started) {
    print('The server of the other commit does not start here: nothing is compared.')
    return
  }
  const seeded = { before, now }
  let servers = started
  print(`${'CPU µs a request'.padEnd(30)}${['before', 'now', 'ratio'].map((name) => name.padStart(9)).join('')}`)
  let scenarios = SCENARIOS
  let sent = 0
  for (let n = 1; ; n++) {
    const slower: Scenario[] = []
    for (const scenario of scenarios) {
      if (await isSlower(scenario, { seeded, servers, from: sent })) slower.push(scenario)
      sent += ROUNDS * REQUESTS
    }
    await Promise.all([servers.before.stop(), servers.now.stop()])
    scenarios = slower
    if (scenarios.length === 0 || n === PROCESSES) break
    print(`Repeated with new processes: ${scenarios.map(({ name }) => name).join('; ')}`)
    servers = await startBoth(checkouts, dataDirs)
  }
  for (const { name } of scenarios) print(`${name} is SLOWER`)
  if (scenarios.length > 0) process.exitCode = 1
}

/** Creates a database with the schema of a checkout. */
async function seedFrom(checkout: string, dataDir: string): Promise<Seeded> {
  const module: { seed: typeof seed } = await import(path.join(checkout, 'seed.ts'))
  mkdirSync(dataDir)
  return module.seed(dataDir, ISSUES)
}

async function startBoth(checkouts: Both<string>, dataDirs: Both<string>): Promise<Both<ServerProcess>> {
  const before = await serveFrom(checkouts.before, { args: ['service', dataDirs.before] })
  return { before, now: await serveFrom(checkouts.now, { args: ['service', dataDirs.now] }) }
}

interface Comparison {
  seeded: Both<Seeded>
  servers: Both<ServerProcess>
  /** The number of the first request. */
  from: number
}

async function isSlower(scenario: Scenario, { seeded, servers, from }: Comparison): Promise<boolean> {
  const requests = Math.min(scenario.requests, REQUESTS)
  const least = { before: Infinity, now: Infinity }
  for (let round = 0; round < ROUNDS; round++) {
    // The order changes, so that neither server always runs after the other has used the caches of the processor.
    const order = round % 2 === 0 ? (['before', 'now'] as const) : (['now', 'before'] as const)
    for (const which of order) {
      const first = from + round * requests
      const at = { seeded: seeded[which], server: servers[which], from: first }
      const { micros } = await measureRound({ scenario, ...at, requests })
      // The least is the round that compilation and other programs disturbed least.
      least[which] = Math.min(least[which], micros)
    }
  }
  const ratio = least.now / least.before
  const figures = [least.before.toFixed(0), least.now.toFixed(0), ratio.toFixed(2)]
  print(`${scenario.name.padEnd(30)}${figures.map((figure) => figure.padStart(9)).join('')}`)
  return ratio > ALLOWED
}
