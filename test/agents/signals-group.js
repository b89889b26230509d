// Signals its own group, as `trap 'kill 0' EXIT` does in a shell script, and works on.
process.on('SIGTERM', () => {
  process.stdout.write('survived\n', () => process.exit(5))
})
process.kill(0, 'SIGTERM')
setTimeout(() => {}, 5_000)
