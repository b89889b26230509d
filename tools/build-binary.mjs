// Makes the single executable: `npm run build:binary` writes dist/service, with
// its checksums (SHA256SUMS) and the list of its components (sbom.cdx.json).
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { layOutPackage, packageFolder } from './package.mjs'

/** The Node inside the executable; the npm package of its binary. Its SQLite addon is better-sqlite3's own. */
const NODE_VERSION = '26.10.0'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const dist = path.join(root, 'dist')
const platform = `${process.platform}-${process.arch}`

const manifest = await layOutPackage()
const node = fetchNode()
addDatabase()

const assets = Object.fromEntries(filesBelow(packageFolder).map((name) => [name, path.join(packageFolder, name)]))
const files = Object.fromEntries(
  Object.entries(assets).map(([name, file]) => [name, { hash: sha256(file), size: statSync(file).size }]),
)
const id = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 16)
const manifestFile = path.join(dist, 'executable-manifest.json')
writeFileSync(manifestFile, JSON.stringify({ id, files }))
const config = path.join(dist, 'executable.json')
const output = path.join(dist, 'service')
writeFileSync(
  config,
  JSON.stringify({
    main: path.join(root, 'tools', 'executable-main.cjs'),
    mainFormat: 'commonjs',
    executable: node,
    output,
    disableExperimentalSEAWarning: true,
    useCodeCache: false,
    // Used by the loader that imports files of the unpacked program.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    execArgvExtension: 'none',
    assets: { ...assets, 'manifest.json': manifestFile },
  }),
)
execFileSync(node, ['--build-sea', config], { stdio: 'inherit' })
chmodSync(output, 0o755)
writeFileSync(path.join(dist, 'sbom.cdx.json'), `${JSON.stringify(sbom(), null, 2)}\n`)
writeFileSync(
  path.join(dist, 'SHA256SUMS'),
  ['service', 'sbom.cdx.json'].map((name) => `${sha256(path.join(dist, name))}  ${name}\n`).join(''),
)
for (const file of [config, manifestFile]) rmSync(file)
process.stdout.write(`dist/service: ${Math.round(statSync(output).size / 1e6)} MB, Node ${NODE_VERSION}, ${platform}\n`)

/** Downloads the binary of Node from npm, once. Returns its path. */
function fetchNode() {
  const folder = path.join(root, 'node_modules', '.cache', 'service', `node-${platform}-${NODE_VERSION}`)
  const file = path.join(folder, 'package', 'bin', 'node')
  if (existsSync(file)) return file
  mkdirSync(folder, { recursive: true })
  const [{ filename }] = JSON.parse(
    execFileSync('npm', ['pack', '--json', `node-${platform}@${NODE_VERSION}`], { cwd: folder, encoding: 'utf8' }),
  )
  execFileSync('tar', ['-xzf', filename], { cwd: folder })
  return file
}

/** Adds better-sqlite3, which is not bundled: its JavaScript, and the addon of this platform. */
function addDatabase() {
  const from = path.join(root, 'node_modules', 'better-sqlite3')
  const to = path.join(packageFolder, 'node_modules', 'better-sqlite3')
  const addon = `prebuilds/${platform}.node`
  if (!existsSync(path.join(from, addon))) throw new Error(`better-sqlite3 has no addon for ${platform}.`)
  const wanted = ['package.json', 'LICENSE', addon, ...filesBelow(path.join(from, 'lib')).map((name) => `lib/${name}`)]
  for (const name of wanted) {
    mkdirSync(path.dirname(path.join(to, name)), { recursive: true })
    writeFileSync(path.join(to, name), readFileSync(path.join(from, name)))
  }
}

/** The components in CycloneDX: Node, better-sqlite3 and every bundled package. */
function sbom() {
  const all = JSON.parse(
    execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx'], { cwd: root, encoding: 'utf8', maxBuffer: 1e9 }),
  )
  const folders = JSON.parse(readFileSync(path.join(dist, 'bundled.json'), 'utf8'))
  const bundled = new Set(folders.map((folder) => folder.split('node_modules/').at(-1)))
  const components = all.components.filter(({ name, group }) => bundled.has(group ? `${group}/${name}` : name))
  const nodeComponent = {
    type: 'platform',
    name: 'node',
    version: NODE_VERSION,
    purl: `pkg:generic/node@${NODE_VERSION}`,
  }
  const { name, version, license } = manifest
  const component = { type: 'application', name, version, licenses: [{ license: { id: license } }] }
  return {
    ...all,
    metadata: { ...all.metadata, component },
    components: [nodeComponent, ...components],
    dependencies: [],
  }
}

function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
    .sort()
}

function sha256(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}
