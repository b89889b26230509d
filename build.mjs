// Bundles the program into dist/. `npm run build` makes it whole; the launcher
// calls buildIfStale, so that a checkout starts in a fifth of the time that
// its sources would take to load (75 ms against 260, and growing by file).
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = path.dirname(fileURLToPath(import.meta.url))
const dist = path.join(root, 'dist')

/** The programs: each is a file in dist/ by this name. */
const ENTRIES = {
  main: 'src/main.ts',
  shim: 'src/runtime/process/shim.ts',
  post: 'src/adapter/post.ts',
  'demo-agent': 'src/clients/demo-agent/main.ts',
  reader: 'src/reader.ts',
}

/** What the bundle is made of, besides src/. */
const INPUTS = ['build.mjs', 'package.json', 'package-lock.json']

/** Lets what is bundled from CommonJS ask for Node's own modules. */
const REQUIRE =
  "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);"

/** @returns what was written: name in dist/ -> bytes */
export async function build() {
  const begun = new Date()
  const { build: bundle, stop } = await import('esbuild')
  const entries = Object.entries(ENTRIES).filter(([, source]) => timeOf(path.join(root, source)) > 0)
  const { outputFiles } = await bundle({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(entries),
    outdir: 'dist',
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    external: ['better-sqlite3', 'esbuild'],
    legalComments: 'none',
    banner: { js: REQUIRE },
    write: false,
    logLevel: 'warning',
  })
  // It would live on beside the server that was built.
  stop()
  // Chunks first, each file whole: whoever starts meanwhile sees the old bundle or the new one.
  const isEntry = (file) => path.dirname(file.path) === dist
  outputFiles.sort((a, b) => isEntry(a) - isEntry(b))
  for (const { path: file, contents } of outputFiles) {
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(`${file}.${process.pid}`, contents)
    // As old as its sources: what changes while this builds is newer than it.
    utimesSync(`${file}.${process.pid}`, begun, begun)
    renameSync(`${file}.${process.pid}`, file)
  }
  return Object.fromEntries(outputFiles.map(({ path: file, contents }) => [path.relative(dist, file), contents.length]))
}

/** Builds unless the bundle is newer than everything that it is made of. */
export async function buildIfStale() {
  const built = timeOf(path.join(dist, 'main.js'))
  if (
    built === 0 ||
    INPUTS.some((file) => timeOf(path.join(root, file)) > built) ||
    isNewer(path.join(root, 'src'), built)
  ) {
    await build()
  }
}

/** Whether a folder or anything in it changed since: a removed file changes its folder. */
function isNewer(folder, since) {
  if (timeOf(folder) > since) return true
  return readdirSync(folder, { withFileTypes: true }).some((entry) => {
    const file = path.join(folder, entry.name)
    return entry.isDirectory() ? isNewer(file, since) : timeOf(file) > since
  })
}

/** When a file was changed, in milliseconds; 0 when there is none. */
function timeOf(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  rmSync(dist, { recursive: true, force: true })
  for (const [name, bytes] of Object.entries(await build())) {
    process.stdout.write(`${String(Math.round(bytes / 1024)).padStart(6)} KB  dist/${name}\n`)
  }
}
