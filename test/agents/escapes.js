// Leaves a deaf process that nothing ties to it: without its environment, in a session of its own, with its parent gone.
import { spawn } from 'node:child_process'

const deaf = new URL('ignore-sigterm.js', import.meta.url).pathname
const leave = `const { spawn } = require('node:child_process')
const child = spawn(process.execPath, [${JSON.stringify(deaf)}], { detached: true, env: {}, stdio: ['ignore', 'pipe', 'ignore'] })
child.stdout.once('data', () => { process.stdout.write('left one\\n'); process.exit(0) })`
const parent = spawn(process.execPath, ['-e', leave], {
  detached: true,
  env: {},
  stdio: ['ignore', 'inherit', 'ignore'],
})
parent.on('exit', () => {
  if (process.argv[2] === 'stay') process.on('SIGTERM', () => {})
  else process.exit(0)
})
setInterval(() => {}, 1_000)
