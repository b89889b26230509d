process.on('SIGTERM', () => {})
process.stdout.write('deaf\n')
setInterval(() => {}, 60_000)
