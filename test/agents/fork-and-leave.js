// Leaves a deaf grandchild in a session of its own, and then ends, or stays and is deaf too.
import { spawn } from 'node:child_process'

const deaf = new URL('ignore-sigterm.js', import.meta.url).pathname
const grandchild = spawn(process.execPath, [deaf], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
grandchild.stdout.once('data', () => {
  process.stdout.write('left one\n')
  if (process.argv[2] === 'stay') process.on('SIGTERM', () => {})
  else process.exit(0)
})
