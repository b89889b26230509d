/**
 * Starts the program on several versions of Node: `npm run prove:start [-- 20 22 24 26]`.
 *
 * For each version, a copy of the checkout runs the README's first commands:
 * `npm ci`, `npm run demo` until all issues of the demo are done, the server, a
 * company from a template, an issue. Node 20 starts the Node that `npm ci`
 * installed. The versions come from the npm registry.
 */
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { packageRoot } from '../../src/platform/package-root.ts'

const versions = process.argv.length > 2 ? process.argv.slice(2) : ['20', '22', '24', '26']
const platform = `node-${process.platform}-${process.arch}`

for (const version of versions) {
  const folder = mkdtempSync(path.join(tmpdir(), 'service-start-'))
  try {
    process.stdout.write(`Node ${version}: ${await startOn(version, folder)}\n`)
  } catch (error) {
    process.stdout.write(`Node ${version}: FAILED: ${error instanceof Error ? error.message : error}\n`)
    process.exitCode = 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function startOn(version: string, folder: string): Promise<string> {
  const [node, checkout] = [path.join(folder, 'node'), path.join(folder, 'checkout')]
  const install = ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', node, `${platform}@${version}`]
  execFileSync('npm', install, { stdio: 'pipe' })
  execFileSync('git', ['clone', '--quiet', '--local', packageRoot(), checkout], { stdio: 'pipe' })
  const bin = path.join(node, 'node_modules', platform, 'bin')
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, SERVICE_HOME: path.join(folder, 'data') }
  const run = (program: string, ...args: string[]) =>
    execFileSync(program, args, { cwd: checkout, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  const actual = run('node', '--version').trim()
  run('npm', 'ci')
  const demo = await firstLine(
    spawn('npm', ['run', 'demo'], { cwd: checkout, env, detached: true }),
    /^\d+ of \d+ issues done/,
  )
  await interrupt(demo.child)
  const began = performance.now()
  const server = spawn('npx', ['service', 'start', '--json', '--port', '0'], { cwd: checkout, env, detached: true })
  try {
    const { url } = JSON.parse((await firstLine(server, /^\{/)).line)
    const ms = performance.now() - began
    const service = (...args: string[]) => run('npx', 'service', ...args, '--url', url)
    service('company', 'new', 'Tern & Co', '--template', 'software-team', '--yes')
    service('agent', 'rehearse', 'Ada')
    service('agent', 'edit', 'Ada', '--budget', '20')
    service('issue', 'create', 'Draw the tide curve', '--assignee', 'Ada')
    service('why', 'TER-1')
    if (!service('issue', 'list').includes('Draw the tide curve')) throw new Error('The new issue is not in the list.')
    return `${actual}, demo: ${demo.line} First start with npx: ${ms.toFixed(0)} ms.`
  } finally {
    await interrupt(server)
  }
}

/** Returns the first line of the output of a program that matches. */
async function firstLine(child: ChildProcessWithoutNullStreams, pattern: RegExp) {
  let [output, errors] = ['', '']
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text
  })
  for await (const line of createInterface(child.stdout)) {
    if (pattern.test(line)) return { child, line }
    output += `${line}\n`
  }
  throw new Error(`The program ended without the line ${pattern}:\n${output}${errors}`)
}

/** Ends a program and the programs that it started, as Ctrl-C does. */
async function interrupt(child: ChildProcessWithoutNullStreams): Promise<void> {
  if (child.exitCode !== null) return
  const exit = once(child, 'exit')
  process.kill(-child.pid!, 'SIGINT')
  await exit
}
