// The main script of the single executable. It unpacks the program once into
// the data directory, verifies it, and runs it. The executable is also the
// `node` of the programs that the server starts: it runs a file of the
// unpacked program if that is the first argument.
const { hash } = require('node:crypto')
const fs = require('node:fs')
const { enableCompileCache } = require('node:module')
const os = require('node:os')
const path = require('node:path')
const { pathToFileURL } = require('node:url')
const sea = require('node:sea')
const vm = require('node:vm')

/** Imports files. The `import()` of this script can import only Node's own modules. */
const load = new vm.Script('(url) => import(url)', {
  importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
}).runInThisContext()

/** All files of the program (path -> SHA-256 in hex and size in bytes), and the id of the build. */
const manifest = JSON.parse(sea.getAsset('manifest.json', 'utf8'))

const asked = process.argv[2]
if (asked !== undefined && isOwnFile(asked)) {
  // Called as `node`: the file comes first, its arguments follow.
  process.argv.splice(1, 1)
  run(asked)
} else {
  run(path.join(unpack(), 'dist', 'main.js'))
}

function run(file) {
  // V8 keeps the compiled code beside the program, which saves 60 ms at each start.
  enableCompileCache(path.join(path.dirname(file), '..', 'compile-cache'))
  load(pathToFileURL(file).href).catch((error) => {
    process.stderr.write(`service: ${error instanceof Error ? error.message : error}\n`)
    process.exitCode = 1
  })
}

/** Whether a file is a script of an unpacked program of this build. */
function isOwnFile(file) {
  if (!path.isAbsolute(file) || !file.endsWith('.js')) return false
  const folder = path.dirname(path.dirname(file))
  const name = path.relative(folder, file).split(path.sep).join('/')
  return path.basename(folder) === manifest.id && manifest.files[name]?.hash === hashOf(file)
}

/** Unpacks the missing and altered files. Returns the folder of the program. */
function unpack() {
  const folder = path.join(dataDir(), 'program', manifest.id)
  for (const name of Object.keys(manifest.files)) {
    const file = path.join(folder, name)
    if (isUnaltered(name, file)) continue
    fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
    // Written under a temporary name and renamed, because another process may unpack at the same time.
    const partial = `${file}.${process.pid}`
    fs.writeFileSync(partial, Buffer.from(sea.getRawAsset(name)), { mode: 0o600 })
    fs.renameSync(partial, file)
  }
  return folder
}

/** Code is verified by its hash at each start. Texts and images are verified by their size, because hashing them takes 40 ms. */
function isUnaltered(name, file) {
  if (/\.(js|node|sql)$/.test(name) && !name.startsWith('dist/web/')) return hashOf(file) === manifest.files[name].hash
  return fs.statSync(file, { throwIfNoEntry: false })?.size === manifest.files[name].size
}

function hashOf(file) {
  try {
    return hash('sha256', fs.readFileSync(file))
  } catch {
    return undefined
  }
}

/** Returns the data directory by the same rule as the program: the flag, SERVICE_HOME, or the platform's folder for user data. */
function dataDir() {
  const args = process.argv.slice(2)
  const at = args.findIndex((arg) => arg === '--data-dir' || arg.startsWith('--data-dir='))
  const flag = at < 0 ? undefined : args[at].includes('=') ? args[at].slice('--data-dir='.length) : args[at + 1]
  const given = flag || process.env.SERVICE_HOME
  if (given) return path.resolve(given)
  const home = os.homedir()
  if (process.platform === 'darwin') return path.join(home, 'Library', 'Application Support', 'service')
  return path.join(process.env.XDG_DATA_HOME || path.join(home, '.local', 'share'), 'service')
}
