#!/usr/bin/env node
// Prints how it was started, as one line of JSON.
let prompt = ''
process.stdin.setEncoding('utf8')
for await (const text of process.stdin) prompt += text
const { argv, env } = process
process.stdout.write(
  `${JSON.stringify({ argv: argv.slice(1), cwd: process.cwd(), prompt, environment: Object.keys(env).sort() })}\n`,
)
