#!/usr/bin/env node
// Simulates an agent program: reads its prompt, then prints a recorded stream.
// Usage: replay.mjs <stream file> [arguments, ignored]
// A line `!stderr text` goes to standard error, `!exit N` sets the exit code,
// `!half text` prints text without an end of line; the rest is printed as it is.
import { readFileSync } from 'node:fs'

for await (const _ of process.stdin);
for (const line of readFileSync(process.argv[2], 'utf8').split('\n').slice(0, -1)) {
  const [, word, rest] = /^!(stderr|exit|half) (.*)$/.exec(line) ?? []
  if (word === 'stderr') process.stderr.write(`${rest}\n`)
  else if (word === 'exit') process.exitCode = Number(rest)
  else process.stdout.write(word === 'half' ? rest : `${line}\n`)
}
