/**
 * Starts the program on several versions of Node: `npm run prove:start [-- 20 22 24 26]`.
 *
 * For each version, a copy of the checkout runs the README's first commands:
 * `npm ci`, the server, a company, a list. Node 20 starts the Node that
 * `npm ci` installed. The versions come from the npm registry.
 */
import { execFileSync, spawn } from 'node:child_process'
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
  const launcher = path.join(checkout, 'bin/service.mjs')
  const began = performance.now()
  const server = spawn('node', [launcher, 'start', '--json', '--port', '0'], { cwd: checkout, env })
  try {
    const [line] = await once(createInterface(server.stdout), 'line')
    const { url } = JSON.parse(line)
    const ms = performance.now() - began
    run('node', launcher, 'company', 'new', 'Tern & Co', '--template', 'software-team', '--url', url)
    const agents = JSON.parse(run('node', launcher, 'agent', 'list', '--json', '--url', url))
    if (agents.length === 0) throw new Error('The new company has no agents.')
    return `${actual}, first start ${ms.toFixed(0)} ms, a company of ${agents.length} agents`
  } finally {
    const exit = once(server, 'exit')
    server.kill('SIGINT')
    await exit
  }
}
