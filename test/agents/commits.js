// Works in a git repository: appends to a file and commits it, and leaves a new file uncommitted.
// Usage: commits.js [commit | leave]...
import { execFileSync } from 'node:child_process'
import { appendFileSync } from 'node:fs'

const git = (...args) =>
  execFileSync('git', ['-c', 'user.name=Agent', '-c', 'user.email=agent@example.com', ...args], { stdio: 'ignore' })

for (const what of process.argv.slice(2)) {
  if (what === 'commit') {
    appendFileSync('work.txt', 'one line\n')
    git('add', 'work.txt')
    git('commit', '--no-verify', '-m', `Work of ${process.env.SERVICE_TASK_ID}`)
  }
  if (what === 'leave') appendFileSync('left.txt', `${process.cwd()}\n`)
}
