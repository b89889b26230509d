import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
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

async function bundle(file: string): Promise<Buffer> {
  const { build, stop } = await import('esbuild')
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    write: false,
    logLevel: 'warning',
  })
  stop()
  return Buffer.from(outputFiles[0]!.contents)
}
