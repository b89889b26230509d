import path from 'node:path'
import { packageRoot } from './package-root.ts'

/** The small programs that the server starts besides the agents' own. */
const PROGRAMS = {
  shim: 'src/runtime/process/shim.ts',
  post: 'src/adapter/post.ts',
  'demo-agent': 'src/clients/demo-agent/main.ts',
}

/** The argv that starts one of them: its bundle, or its source where the server itself runs from sources. */
export function argvOf(program: keyof typeof PROGRAMS): [string, string] {
  const file = import.meta.url.endsWith('.ts') ? PROGRAMS[program] : `dist/${program}.js`
  return [process.execPath, path.join(packageRoot(), file)]
}
