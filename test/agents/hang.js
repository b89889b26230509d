process.stdout.write('working\n')
setInterval(() => {}, 60_000)
