import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { packageRoot } from '../../platform/package-root.ts'

/**
 * Writes the program that the demo agents run: the embedded agent on the Node
 * that runs this, whatever `node` is in the PATH of a run.
 *
 * @returns its path
 */
export function writeAgentProgram(dataDir: string): string {
  const isBundled = !import.meta.url.endsWith('.ts')
  const agent = path.join(packageRoot(), isBundled ? 'dist/demo-agent.js' : 'src/clients/demo-agent/main.ts')
  const program = path.join(dataDir, 'demo-agent')
  writeFileSync(program, `#!/bin/sh\nexec ${quoted(process.execPath)} ${quoted(agent)} "$@"\n`, { mode: 0o700 })
  return program
}

const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`
