import path from 'node:path'
import { packageRoot } from './package-root.ts'

/** The programs and threads that the server starts, besides the programs of agents. */
const PROGRAMS = {
  main: 'src/main.ts',
  shim: 'src/runtime/process/shim.ts',
  'recover-usage': 'src/runtime/process/recover-usage.ts',
  post: 'src/adapter/post.ts',
  'demo-agent': 'src/clients/demo-agent/main.ts',
  reader: 'src/reader.ts',
  remote: 'src/runtime/remote/main.ts',
}

const { NODE_COMPILE_CACHE } = process.env

/** The environment with which a program starts fast: from its sources in a fifth of the CPU time, if Node finds the compiled modules. */
export const COMPILE_CACHE = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }

/** Returns the argv that starts a program. */
export const argvOf = (program: keyof typeof PROGRAMS): [string, string] => [process.execPath, fileOf(program)]

/** The file of a program: its bundle, or its source if the server itself runs from sources. */
export function fileOf(program: keyof typeof PROGRAMS): string {
  return path.join(packageRoot(), import.meta.url.endsWith('.ts') ? PROGRAMS[program] : `dist/${program}.js`)
}
