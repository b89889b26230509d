// Bundles the program into dist/. `npm run build` makes it whole; the launcher
// calls buildIfStale, so that a checkout starts in a fifth of the time that
// its sources would take to load (75 ms against 260, and growing by file).
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip, gzipSync } from 'node:zlib'

const root = path.dirname(fileURLToPath(import.meta.url))
const dist = path.join(root, 'dist')

/** The programs: each is a file in dist/ by this name. */
const ENTRIES = {
  main: 'src/main.ts',
  shim: 'src/runtime/process/shim.ts',
  'recover-usage': 'src/runtime/process/recover-usage.ts',
  post: 'src/adapter/post.ts',
  'demo-agent': 'src/clients/demo-agent/main.ts',
  reader: 'src/reader.ts',
}

/** The program for other machines: one file, which needs nothing but Node. */
const REMOTE = 'src/runtime/remote/main.ts'

/** The client that other programs import: one file, which also runs in a browser. */
const CLIENT = 'src/clients/client/index.ts'

/** What the bundle is made of, besides src/. */
const INPUTS = ['build.mjs', 'package.json', 'package-lock.json']

/** Gives bundled CommonJS what it has in Node: `require` for Node's own modules, and its folder. */
const REQUIRE =
  "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url),__dirname=import.meta.dirname;"

/** @returns what was written: name in dist/ -> bytes */
export async function build() {
  const begun = new Date()
  const { build: bundle, stop } = await import('esbuild')
  const entries = Object.entries(ENTRIES).filter(([, source]) => timeOf(path.join(root, source)) > 0)
  const { outputFiles, metafile } = await bundle({
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
    metafile: true,
    logLevel: 'warning',
  })
  const remote = await bundle({
    absWorkingDir: root,
    entryPoints: { remote: REMOTE },
    outdir: 'dist',
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    legalComments: 'none',
    write: false,
    logLevel: 'warning',
  })
  const client = await bundle({
    absWorkingDir: root,
    entryPoints: { client: CLIENT },
    outdir: 'dist',
    bundle: true,
    platform: 'neutral',
    format: 'esm',
    target: 'es2022',
    legalComments: 'none',
    write: false,
    logLevel: 'warning',
  })
  outputFiles.push(...remote.outputFiles, ...client.outputFiles)
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
  addBundled(metafile)
  return Object.fromEntries(outputFiles.map(({ path: file, contents }) => [path.relative(dist, file), contents.length]))
}

/** Adds the packages whose code a bundle contains to dist/bundled.json, beside better-sqlite3: their folders below node_modules. */
function addBundled({ inputs }) {
  const file = path.join(dist, 'bundled.json')
  const known = timeOf(file) > 0 ? JSON.parse(readFileSync(file, 'utf8')) : ['better-sqlite3']
  const names = Object.keys(inputs).flatMap(
    (input) => /node_modules\/((?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1] ?? [],
  )
  writeWhole(file, JSON.stringify([...new Set([...known, ...names])].sort()))
}

/** The folder of the web page's sources, and of what is built from them. */
const WEB = 'src/clients/web/app'
const webDist = path.join(dist, 'web')

/** How many bytes of the page load before anything is shown, compressed by gzip. A build over a limit fails. */
const WEB_LIMITS = { js: 90 * 1024, css: 20 * 1024 }

/**
 * Builds the web page into dist/web: files named by their hash, each also
 * compressed, `index.html` and `manifest.json`.
 *
 * @returns the compressed sizes that have a limit: { js, css } in bytes
 */
export async function buildWeb() {
  const begun = new Date()
  const { build: bundle, stop } = await import('esbuild')
  const { outputFiles, metafile } = await bundle({
    absWorkingDir: root,
    entryPoints: { main: `${WEB}/main.tsx`, styles: `${WEB}/styles/main.css`, icon: `${WEB}/icon.svg` },
    outdir: webDist,
    entryNames: 'assets/[name]-[hash]',
    chunkNames: 'assets/[name]-[hash]',
    assetNames: 'assets/[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    metafile: true,
    platform: 'browser',
    format: 'esm',
    target: ['chrome123', 'firefox121', 'safari17.5'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.svg': 'copy' },
    plugins: [icons, sharedChunk],
    legalComments: 'none',
    write: false,
    logLevel: 'warning',
  })
  stop()
  const contentsOf = (file) => outputFiles.find((output) => output.path === path.join(root, file)).contents
  const outputOf = (entry) =>
    Object.keys(metafile.outputs).find((file) => metafile.outputs[file].entryPoint === `${WEB}/${entry}`)
  const main = outputOf('main.tsx')
  const preloaded = importsOf(metafile, main)
  const styles = outputOf('styles/main.css')
  const size = (files) => files.reduce((sum, file) => sum + gzipSync(contentsOf(file), { level: 9 }).length, 0)
  const sizes = { js: size([main, ...preloaded]), css: size([styles]) }
  for (const [kind, limit] of Object.entries(WEB_LIMITS)) {
    if (sizes[kind] > limit) throw new Error(`The page's first ${kind} has ${sizes[kind]} bytes of ${limit}.`)
  }
  const urlOf = (file) => file.slice('dist/web'.length)
  const first = new Set([main, ...preloaded])
  const pages = Object.fromEntries(
    pagesOf(readFileSync(path.join(root, WEB, ROUTES), 'utf8')).map(([address, entry]) => {
      const output = outputOf(entry)
      const files = [output, ...importsOf(metafile, output)].filter((file) => !first.has(file))
      return [address, files.map(urlOf)]
    }),
  )
  const icon = Object.keys(metafile.outputs).find((file) => /icon-\w+\.svg$/.test(file))
  const html = readFileSync(path.join(root, WEB, 'index.html'), 'utf8')
    .replace('{{styles}}', urlOf(styles))
    .replace('{{main}}', urlOf(main))
    .replace('{{icon}}', urlOf(icon))
    .replace('{{preload}}', preloaded.map((file) => `<link rel="modulepreload" href="${urlOf(file)}">`).join('\n'))
  mkdirSync(path.join(webDist, 'assets'), { recursive: true })
  await Promise.all(outputFiles.map(({ path: file, contents }) => writeCompressed(file, contents)))
  const inputs = Object.keys(metafile.inputs).filter((file) => file.startsWith('src/') && !file.startsWith(WEB))
  const manifest = { sizes, inputs, pages, files: outputFiles.map(({ path: file }) => path.relative(webDist, file)) }
  writeWhole(path.join(webDist, 'manifest.json'), JSON.stringify(manifest))
  // Last, and as old as its sources: what changes while this builds is newer than it.
  writeWhole(path.join(webDist, 'index.html'), html, begun)
  addBundled(metafile)
  removeOldAssets(begun.getTime() - OLD_ASSET_MS)
  return sizes
}

/** A page that is open in a browser may load assets of the build before for so long. */
const OLD_ASSET_MS = 3_600_000

function removeOldAssets(before) {
  const folder = path.join(webDist, 'assets')
  for (const name of readdirSync(folder)) {
    const file = path.join(folder, name)
    if (timeOf(file) < before) rmSync(file, { force: true })
  }
}

/** The chunks that a file needs before it runs. */
function importsOf(metafile, file, found = new Set()) {
  for (const { path: imported, kind } of metafile.outputs[file].imports) {
    if (kind !== 'import-statement' || found.has(imported)) continue
    found.add(imported)
    importsOf(metafile, imported, found)
  }
  return [...found]
}

const ROUTES = 'shell/routes.tsx'

/** The address of each page, and the file that it is in: the server has the browser load it along with the HTML. */
const pagesOf = (routes) =>
  [...routes.matchAll(/path: '([^']+)',\s+component: lazy\(\(\) => import\('\.\.\/([^']+)'\)/g)].map(
    ([, address, entry]) => [address, entry],
  )

/**
 * Makes everything that the entry needs one chunk. esbuild makes a chunk for
 * each set of pages that share a module: thirty small files before anything is
 * shown. Where each page imports what the entry imports, there is one set.
 */
const sharedChunk = {
  name: 'shared-chunk',
  setup(build) {
    const app = path.join(root, WEB)
    const shared = SHARED.map((file) => `import '${file.startsWith('lucide') ? file : `${app}/${file}`}';`).join(' ')
    // It is for servers that render pages, and would part Preact from the shared chunk.
    build.onResolve({ filter: /^\.\/prerender\.js$/ }, ({ path: file }) => ({ path: file, external: true }))
    build.onLoad(
      {
        filter:
          /\/app\/(main\.tsx|pages\/.*\.tsx|shell\/dialogs\.tsx|kit\/(popup\.tsx|(compare|draw-chart|render-markdown)\.ts))$/,
      },
      ({ path: file }) => {
        if (!LAZY.test(file)) return undefined
        return { contents: `${shared}${readFileSync(file, 'utf8')}`, loader: path.extname(file).slice(1) }
      },
    )
  },
}

/** What every page needs, with what nearly every page needs. */
const SHARED = [
  'shell/frame.tsx',
  'kit/toast.tsx',
  'kit/list.tsx',
  'kit/table.tsx',
  'kit/editable.tsx',
  'kit/facts.tsx',
  'kit/field.tsx',
  'kit/form-dialog.tsx',
  'kit/copyable.tsx',
  'kit/diff.tsx',
  'pages/issues/issue-row.tsx',
  'pages/issues/change.ts',
  'pages/issues/choices.tsx',
  'state/theme.ts',
  'lucide-static/icons/plus.svg',
  'lucide-static/icons/chevron-left.svg',
  'lucide-static/icons/chevron-right.svg',
]

/** The entry, and the files that are imported when they are first needed. */
const LAZY = /(-page|\/board|\/raw-log|\/dialogs|\/popup|\/main)\.tsx$|\.ts$/

/** An icon of lucide-static is imported as what stands inside its `<svg>`. */
const icons = {
  name: 'icons',
  setup(build) {
    build.onLoad({ filter: /lucide-static\/icons\/.*\.svg$/ }, ({ path: file }) => {
      const [, inner] = /<svg[^>]*>(.*)<\/svg>/s.exec(readFileSync(file, 'utf8'))
      return { contents: inner.replace(/\s*\n\s*/g, ''), loader: 'text' }
    })
  },
}

/** Writes a file, and beside it what is sent to clients that take brotli or gzip. */
async function writeCompressed(file, contents) {
  const brotli = {
    params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: contents.length },
  }
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(contents, brotli),
    promisify(gzip)(contents, { level: 9 }),
  ])
  writeWhole(file, contents)
  writeWhole(`${file}.br`, br)
  writeWhole(`${file}.gz`, gz)
}

function writeWhole(file, contents, time) {
  writeFileSync(`${file}.${process.pid}`, contents)
  if (time) utimesSync(`${file}.${process.pid}`, time, time)
  renameSync(`${file}.${process.pid}`, file)
}

/** Builds the web page unless it is newer than everything that it is made of. */
export async function buildWebIfStale() {
  const built = timeOf(path.join(webDist, 'index.html'))
  const shared = () => JSON.parse(readFileSync(path.join(webDist, 'manifest.json'), 'utf8')).inputs
  if (
    built === 0 ||
    [...INPUTS, ...shared()].some((file) => timeOf(path.join(root, file)) > built) ||
    isNewer(path.join(root, WEB), built)
  ) {
    await buildWeb()
  }
}

/** Builds unless the bundle is newer than everything that it is made of. */
export async function buildIfStale() {
  // The server works without the page, so a page that cannot be built stops nobody.
  await buildWebIfStale().catch((error) => {
    process.stderr.write(`service: the web page is not built (${error.message.split('\n')[0]}). Run npm ci.\n`)
  })
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
  const isWebOnly = process.argv[2] === 'web'
  rmSync(isWebOnly ? webDist : dist, { recursive: true, force: true })
  for (const [name, bytes] of Object.entries(isWebOnly ? {} : await build())) {
    process.stdout.write(`${String(Math.round(bytes / 1024)).padStart(6)} KB  dist/${name}\n`)
  }
  const { js, css } = await buildWeb()
  process.stdout.write(`The page's first bytes, gzip: JavaScript ${js}, CSS ${css}.\n`)
}
