// escapes.js TAG [stay]: leaves a deaf process, with the tag as its argument, that nothing ties to it: without its environment, in a session of its own, with its parent gone.
import { spawn } from 'node:child_process'

const deaf = new URL('ignore-sigterm.js', import.meta.url).pathname
const leave = `const { spawn } = require('node:child_process')
const child = spawn(process.execPath, [${JSON.stringify(deaf)}, ${JSON.stringify(process.argv[2])}], { detached: true, env: {}, stdio: ['ignore', 'pipe', 'ignore'] })
child.stdout.once('data', () => process.exit(0))`
const parent = spawn(process.execPath, ['-e', leave], {
  detached: true,
  env: {},
  stdio: 'ignore',
})
parent.on('exit', () => {
  // Not earlier: until its parent has exited, there is one process more.
  process.stdout.write('left one\n')
  if (process.argv[3] === 'stay') process.on('SIGTERM', () => {})
  else process.exit(0)
})
setInterval(() => {}, 1_000)
