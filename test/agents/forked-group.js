// Leaves a deaf child in its own group, without the environment that marks it.
import { spawn } from 'node:child_process'

const deaf = new URL('ignore-sigterm.js', import.meta.url).pathname
const child = spawn(process.execPath, [deaf], { env: {}, stdio: ['ignore', 'pipe', 'ignore'] })
child.stdout.once('data', () => process.exit(0))
