import assert from 'node:assert/strict'
import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { packageRoot } from '../../src/platform/package-root.ts'
import { temporaryFolder } from '../helpers.ts'

const run = promisify(execFile)

/** The Node versions to test: the oldest supported version and the two newest lines. */
const NODES = ['22', '24', '26']

/** Runs npm and returns its output. */
const npm = (args: string[], cwd: string): string =>
  execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], cwd })

/** Downloads the newest Node of a line from npm, once per checkout. */
function fetchNode(line: string): string {
  const folder = path.join(packageRoot(), 'node_modules', '.cache', 'service', `node-${line}`)
  const file = path.join(folder, 'package', 'bin', 'node')
  if (existsSync(file)) return file
  mkdirSync(folder, { recursive: true })
  const name = `node-${process.platform}-${process.arch}@${line}`
  const [{ filename }] = JSON.parse(npm(['pack', '--json', name], folder))
  execFileSync('tar', ['-xzf', filename], { cwd: folder })
  return file
}

/** Runs the demo, the page and doctor of an installed program on an empty data directory. */
async function tryProgram(t: TestContext, argv: readonly [string, ...string[]], dataDir: string): Promise<void> {
  const [program, ...first] = argv
  const env = { HOME: dataDir, PATH: '/usr/bin:/bin', NO_COLOR: '1' }
  const server = spawn(program, [...first, 'demo', '--json', '--port', '0', '--data-dir', dataDir], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => server.kill('SIGKILL'))
  let printed = ''
  server.stdout.setEncoding('utf8')
  for await (const chunk of server.stdout) {
    printed += chunk
    if (printed.includes('"type":"summary"')) break
  }
  const summary = JSON.parse(printed.trim().split('\n').at(-1)!)
  assert.deepEqual([summary.done, summary.issues], [true, { total: 12, done: 12 }], printed)
  server.kill('SIGTERM')
  if (server.exitCode === null) await once(server, 'exit')

  const started = spawn(program, [...first, 'start', '--json', '--port', '0', '--data-dir', dataDir], { env })
  t.after(() => started.kill('SIGKILL'))
  const [line] = await once(started.stdout, 'data')
  const { url } = JSON.parse(String(line))
  const page = await (await fetch(url)).text()
  const script = /src="(\/assets\/main-[\w-]+\.js)"/.exec(page)?.[1]
  assert.ok(script, page)
  assert.equal((await fetch(url + script)).status, 200)
  const metrics = await fetch(`${url}/api/metrics`)
  assert.match(await metrics.text(), /^service_runs\{adapter=/m)
  const doctor = await run(program, [...first, 'doctor', '--json', '--data-dir', dataDir], { env })
  assert.equal(JSON.parse(doctor.stdout).ok, true)
  started.kill('SIGTERM')
  await once(started, 'exit')
}

const TSC = path.join(packageRoot(), 'node_modules', 'typescript', 'bin', 'tsc')

/** Compiles the example of the documentation and a program with errors against the installed package, and runs the example. */
async function tryClient(t: TestContext, folder: string, program: string): Promise<void> {
  const guide = readFileSync(path.join(packageRoot(), 'docs', 'guides', 'typescript-client.md'), 'utf8')
  writeFileSync(path.join(folder, 'example.ts'), /^```ts\n(.*?)^```/ms.exec(guide)![1]!)
  // Each line that must not compile has `@ts-expect-error`, so a line that compiles is an error.
  copyFileSync(path.join(packageRoot(), 'test', 'tools', 'client-errors.txt'), path.join(folder, 'errors.ts'))
  const settings = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true }
  const node = { typeRoots: [path.join(packageRoot(), 'node_modules', '@types')], types: ['node'] }
  for (const [module, moduleResolution] of [
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ]) {
    const compilerOptions = { ...settings, ...node, target: 'es2022', lib: ['es2024', 'dom'], module, moduleResolution }
    writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
    const { stdout } = await run(process.execPath, [TSC, '--project', folder]).catch((error) => error)
    assert.equal(stdout, '', moduleResolution)
  }

  const server = spawn(process.execPath, [
    program,
    'start',
    '--json',
    '--port',
    '0',
    '--data-dir',
    path.join(folder, 'data'),
  ])
  t.after(() => server.kill('SIGKILL'))
  const [line] = await once(server.stdout, 'data')
  const env = { ...process.env, SERVICE_API_URL: JSON.parse(String(line)).url }
  const { stdout } = await run(process.execPath, [path.join(folder, 'example.ts')], { cwd: folder, env })
  assert.equal(stdout, 'TER-1 Draw the tide curve\n422 invalid_transition\n')
  server.kill('SIGTERM')
  await once(server, 'exit')
}

/** Runs the program that placements copy to other machines. It must not need another file of the installation. */
async function tryRemoteProgram([program, ...args]: readonly [string, ...string[]]): Promise<void> {
  const { stdout } = await run(program, [...args, 'find', '0197c0de-0000-7000-8000-000000000001'])
  assert.equal(stdout, 'null\n')
}

test('the packed file, installed without scripts, runs the demo, the page and doctor on each Node version', async (t) => {
  const folder = temporaryFolder(t)
  const installed = path.join(folder, 'installed')
  mkdirSync(installed)
  execFileSync(process.execPath, ['tools/package.mjs'], { cwd: packageRoot(), stdio: 'ignore' })
  const packed = readdirSync(packageRoot()).find((name) => name.startsWith('service-') && name.endsWith('.tgz'))!
  writeFileSync(path.join(installed, 'package.json'), '{ "type": "module" }')
  npm(['install', '--ignore-scripts', '--no-audit', path.join(packageRoot(), packed)], installed)
  const manifest = JSON.parse(readFileSync(path.join(packageRoot(), 'dist', 'package', 'package.json'), 'utf8'))
  assert.deepEqual(Object.keys(manifest.dependencies), ['better-sqlite3'])
  const content = path.join(installed, 'node_modules', '@service-board', 'service')
  assert.ok(readdirSync(path.join(content, 'templates')).length > 0)
  assert.match(readFileSync(path.join(content, 'THIRD-PARTY-LICENSES.txt'), 'utf8'), /^preact \d+\.[\d.]+ \(MIT\)$/m)
  assert.ok(existsSync(path.join(content, 'SECURITY.md')))
  const program = path.join(content, 'bin', 'service.mjs')
  await t.test('a program of TypeScript compiles and runs with the client of the package', (t) =>
    tryClient(t, installed, program),
  )
  const remote = path.join(content, 'dist', 'remote.js')
  for (const line of NODES) {
    await t.test(`Node ${line}`, async (t) => {
      await tryProgram(t, [fetchNode(line), program], path.join(folder, `data-${line}`))
      await tryRemoteProgram([fetchNode(line), remote])
    })
  }
})

test('the single executable runs the demo, the page and doctor without Node, and is its own shim', async (t) => {
  execFileSync(process.execPath, ['tools/build-binary.mjs'], { cwd: packageRoot(), stdio: 'ignore' })
  const dist = path.join(packageRoot(), 'dist')
  const executable = path.join(dist, 'service')
  await tryProgram(t, [executable], path.join(temporaryFolder(t), 'data'))
  const sbom = JSON.parse(readFileSync(path.join(dist, 'sbom.cdx.json'), 'utf8'))
  const components = sbom.components.map(({ group, name }: { group?: string; name: string }) =>
    group ? `${group}/${name}` : name,
  )
  for (const name of ['node', 'better-sqlite3', 'hono', '@opentelemetry/sdk-trace'])
    assert.ok(components.includes(name), name)
  execFileSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: dist, stdio: 'ignore' })
  const dataDir = path.join(temporaryFolder(t), 'data')
  await run(executable, ['--version', '--data-dir', dataDir])
  const [id] = readdirSync(path.join(dataDir, 'program'))
  await tryRemoteProgram([executable, path.join(dataDir, 'program', id!, 'dist', 'remote.js')])
  const hint = await run(executable, ['backup', '--data-dir', dataDir, '--help'])
  assert.match(hint.stdout, /\$ \S*dist\/service restore /)
  const main = path.join(dataDir, 'program', id!, 'dist', 'main.js')
  writeFileSync(main, 'console.log("altered")')
  const { stdout } = await run(executable, ['--version', '--data-dir', dataDir])
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/)
})
