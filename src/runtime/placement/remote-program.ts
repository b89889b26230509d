import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileOf } from '../../platform/programs.ts'

/** The program for other machines, as one file. */
export interface RemoteProgram {
  source: Buffer
  /** Its name over there. Another version has another name. */
  name: string
}

/** Reads the program for other machines. If the server itself runs from sources, it is bundled here. */
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
