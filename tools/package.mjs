// Makes the npm package: `npm run package` writes service-board-service-<version>.tgz.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, buildWeb } from '../build.mjs'
import { writeClientTypes } from './client-types.ts'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))

/** The folder of the package's content, before it is packed. */
export const packageFolder = path.join(root, 'dist', 'package')

/** The folder of the declarations of the client. */
const TYPES = 'dist/types'

const CONTENT = ['bin', 'docs', 'templates', 'schema.sql', 'LICENSE', 'README.md', 'SECURITY.md', 'CHANGELOG.md']

/** Builds everything and creates the content of the package in a folder. Returns its manifest. */
export async function layOutPackage() {
  const bundle = Object.keys(await build())
  await buildWeb()
  const { files } = JSON.parse(readFileSync(path.join(root, 'dist/web/manifest.json'), 'utf8'))
  const web = ['index.html', ...files.flatMap((name) => [name, `${name}.gz`, `${name}.br`])].map(
    (name) => `web/${name}`,
  )
  rmSync(packageFolder, { recursive: true, force: true })
  mkdirSync(packageFolder, { recursive: true })
  for (const name of CONTENT) copy(name)
  for (const name of [...bundle, ...web]) copy(path.join('dist', name))
  await writeClientTypes(path.join(packageFolder, TYPES))
  writeFileSync(path.join(packageFolder, 'THIRD-PARTY-LICENSES.txt'), thirdPartyLicenses())
  // `service` is another project's package on npm. The owner decides on the final name.
  const { npmName, version, description, license, bin, dependencies } = JSON.parse(
    readFileSync(path.join(root, 'package.json'), 'utf8'),
  )
  const manifest = {
    name: npmName,
    version,
    description,
    license,
    type: 'module',
    bin,
    exports: {
      './client': { types: `./${TYPES}/clients/client/index.d.ts`, default: './dist/client.js' },
      './package.json': './package.json',
    },
    // The oldest Node that better-sqlite3 runs on.
    engines: { node: '>=22' },
    dependencies,
    publishConfig: { access: 'public', provenance: true },
  }
  writeFileSync(path.join(packageFolder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  return manifest
}

/** Returns the license texts of the packages whose code is in the bundles of the program and of the web page. */
function thirdPartyLicenses() {
  const folders = JSON.parse(readFileSync(path.join(root, 'dist/bundled.json'), 'utf8'))
  return folders
    .map((name) => {
      const folder = path.join(root, 'node_modules', name)
      const manifest = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'))
      const texts = readdirSync(folder)
        .filter((entry) => /^(licen[cs]e|copying|notice)/i.test(entry))
        .map((entry) => readFileSync(path.join(folder, entry), 'utf8').trim())
      const text = texts.length > 0 ? texts.join('\n\n') : standardText(manifest)
      return `${manifest.name} ${manifest.version} (${manifest.license})\n\n${text}\n`
    })
    .join(`\n${'-'.repeat(80)}\n\n`)
}

/** Returns the text of the license of a package that contains none. */
function standardText({ name, license, author }) {
  if (license === 'Unlicense')
    return 'This is free and unencumbered software released into the public domain: https://unlicense.org'
  if (license !== 'MIT') throw new Error(`${name} has no text of its license, ${license}. Add it here.`)
  const own = readFileSync(path.join(root, 'LICENSE'), 'utf8')
  return own.replace(/^Copyright .*$/m, `Copyright (c) ${author?.name ?? author ?? `the authors of ${name}`}`).trim()
}

/** Copies a file or folder if it exists. Compressed assets have no compressed copy. */
function copy(name) {
  if (existsSync(path.join(root, name)))
    cpSync(path.join(root, name), path.join(packageFolder, name), { recursive: true })
}

/** Packs the folder. Returns the absolute path of the written file. */
export function pack(destination = root) {
  const out = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', destination], {
    cwd: packageFolder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return path.join(destination, JSON.parse(out)[0].filename)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { name, version } = await layOutPackage()
  const file = pack()
  process.stdout.write(
    `${path.relative(process.cwd(), file)}: ${name} ${version}. Try it: npx ./${path.basename(file)} start\n`,
  )
}
