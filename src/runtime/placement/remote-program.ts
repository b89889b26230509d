import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { packageRoot } from '../../platform/package-root.ts'
import { fileOf } from '../../platform/programs.ts'

/** The program that runs on other machines, as one file. */
export interface RemoteProgram {
  source: Buffer
  /** The file name on the other machine. It contains a hash of the content, so each version has its own name. */
  name: string
}

/** Reads the program. If the server runs from its sources, it bundles the program first. */
export async function readRemoteProgram(): Promise<RemoteProgram> {
  const file = fileOf('remote')
  const source = file.endsWith('.ts') ? await bundle(file) : await readFile(file)
  return { source, name: `shim-${createHash('sha256').update(source).digest('hex').slice(0, 16)}.mjs` }
}

/** Runs esbuild as a program: its library is one service, and stopping it would leave concurrent builds pending. */
async function bundle(file: string): Promise<Buffer> {
  const program = path.join(packageRoot(), 'node_modules/.bin/esbuild')
  const options = ['--bundle', '--minify', '--platform=node', '--format=esm', '--target=node22', '--log-level=warning']
  const { stdout } = await promisify(execFile)(program, [file, ...options], { encoding: 'buffer', maxBuffer: 2 ** 24 })
  return stdout
}
