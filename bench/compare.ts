/**
 * Compares the CPU time of a request with that of another commit:
 * `npm run bench:compare [-- commit]`. The default is the previous commit.
 *
 * Both servers run in turn on the same machine, so that the machine's speed
 * does not count. Exits 1 if a scenario takes over 20 % more, also when it is
 * measured again. Compares nothing if the other commit is not there or its
 * server does not start with the packages of this one.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { serveFrom, withFolder } from './process.ts'
import { measureRound } from './round.ts'
import { SCENARIOS } from './scenarios.ts'
import { seed } from './seed.ts'

const ALLOWED = 1.2
const ISSUES = 2_000
const ROUNDS = 4
/** Each further measurement needs the same result, because other programs disturb single ones. */
const MEASUREMENTS = 3
/** The most requests in a round, so that the whole comparison takes less than a minute. */
const REQUESTS = 400

const root = path.dirname(import.meta.dirname)
const git = (...args: string[]) => execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' }).trim()
const print = (line: string) => process.stdout.write(`${line}\n`)

await withFolder(async (folder) => {
  const commit = findCommit(process.argv[2] ?? 'HEAD~1')
  if (commit === undefined) {
    print('There is no other commit to compare with.')
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

async function compare(folder: string, checkouts: { before: string; now: string }): Promise<void> {
  // The older schema may differ, so each server gets a database of its own checkout. Ids are the same in both.
  const dataDirs = { before: path.join(folder, 'data-before'), now: path.join(folder, 'data-now') }
  mkdirSync(dataDirs.now)
  const seeded = seed(dataDirs.now, ISSUES)
  cpSync(dataDirs.now, dataDirs.before, { recursive: true })
  const before = await serveFrom(checkouts.before, { args: ['service', dataDirs.before] }).catch(() => undefined)
  if (!before) {
    print('The server of the other commit does not start here: nothing is compared.')
    return
  }
  const servers = { before, now: await serveFrom(checkouts.now, { args: ['service', dataDirs.now] }) }
  print(`${'CPU µs a request'.padEnd(30)}${['before', 'now', 'ratio'].map((name) => name.padStart(9)).join('')}`)
  let sent = 0
  for (const scenario of SCENARIOS) {
    let isSlower = true
    for (let n = 0; n < MEASUREMENTS && isSlower; n++) {
      const micros = { before: [] as number[], now: [] as number[] }
      for (let round = 0; round < ROUNDS; round++, sent += REQUESTS) {
        for (const which of ['before', 'now'] as const) {
          const requests = Math.min(scenario.requests, REQUESTS)
          const round = await measureRound({ scenario, seeded, server: servers[which], from: sent, requests })
          micros[which].push(round.micros)
        }
      }
      // The least is the one that other programs disturbed least.
      const [then, now] = [Math.min(...micros.before), Math.min(...micros.now)]
      isSlower = now > then * ALLOWED
      const figures = [then.toFixed(0), now.toFixed(0), (now / then).toFixed(2)]
      print(`${scenario.name.padEnd(30)}${figures.map((figure) => figure.padStart(9)).join('')}`)
    }
    if (!isSlower) continue
    print(`${scenario.name} is SLOWER`)
    process.exitCode = 1
  }
  await Promise.all([servers.before.stop(), servers.now.stop()])
}
