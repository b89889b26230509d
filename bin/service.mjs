#!/usr/bin/env node
// Starts the program on a Node that can run it. Any Node since 12 must be able
// to read this file, so it is written in the JavaScript of that time.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module from 'node:module'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** Checks the version of Node first, because better-sqlite3 crashes the process on an older Node. */
const OLDEST_NODE = 22

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))

if (Number(process.versions.node.split('.')[0]) >= OLDEST_NODE) {
  run()
} else {
  const node = findPinnedNode()
  if (node) {
    runOn(node)
  } else {
    const remedy = isCheckout()
      ? 'Run npm ci first, which installs a suitable Node.'
      : 'Install it from https://nodejs.org.'
    process.stderr.write(
      `service: Node ${OLDEST_NODE} or newer is required, but this is ${process.versions.node}. ${remedy}\n`,
    )
    process.exitCode = 1
  }
}

/** Runs the program. A checkout never runs a bundle that is older than its sources. An installation has only the bundle. */
function run() {
  // V8 keeps the compiled code, which saves 60 ms at each start. Node 22.0 has no such cache. The default folder of
  // the cache is below /tmp, where another user of the machine could place code of theirs.
  if (module.enableCompileCache) module.enableCompileCache(path.join(root, 'dist', 'compile-cache'))
  const ready = isCheckout() ? load('build.mjs').then((builder) => builder.buildIfStale()) : Promise.resolve()
  ready
    .then(() => load(path.join('dist', 'main.js')))
    .catch((error) => {
      process.stderr.write(`service: ${error instanceof Error ? error.message : error}\n`)
      process.exitCode = 1
    })
}

function isCheckout() {
  return existsSync(path.join(root, 'src', 'main.ts'))
}

function load(file) {
  return import(pathToFileURL(path.join(root, file)).href)
}

/** Finds the Node of the npm package `node`, which npm may have hoisted. */
function findPinnedNode() {
  const file = path.join('node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  for (let folder = root; ; folder = path.dirname(folder)) {
    const node = path.join(folder, file)
    if (existsSync(node)) return node
    if (folder === path.dirname(folder)) return undefined
  }
}

/** Runs the same command line on another Node, and exits with its exit code or signal. */
function runOn(node) {
  const child = spawn(node, [fileURLToPath(import.meta.url)].concat(process.argv.slice(2)), { stdio: 'inherit' })
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  const forward = (signal) => child.kill(signal)
  for (const signal of signals) process.on(signal, forward)
  child.on('error', (error) => {
    process.stderr.write(`service: ${node} does not start: ${error.message}\n`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    for (const name of signals) process.removeListener(name, forward)
    if (signal) process.kill(process.pid, signal)
    else process.exitCode = code
  })
}
