import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { packageRoot } from '../../platform/package-root.ts'

/**
 * Writes the program of the demo agents: a script that starts the embedded agent
 * on the server's own Node, independent of the `node` in a run's PATH.
 *
 * @returns the path of the script
 */
export function writeAgentProgram(dataDir: string): string {
  const isBundled = !import.meta.url.endsWith('.ts')
  const agent = path.join(packageRoot(), isBundled ? 'dist/demo-agent.js' : 'src/clients/demo-agent/main.ts')
  const program = path.join(dataDir, 'demo-agent')
  writeFileSync(program, `#!/bin/sh\nexec ${quoted(process.execPath)} ${quoted(agent)} "$@"\n`, { mode: 0o700 })
  return program
}

const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`
