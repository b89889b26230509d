// Prints a numbered line on both streams, again and again.
let count = 0
setInterval(() => {
  count++
  process.stdout.write(`out ${count}\n`)
  process.stderr.write(`err ${count}\n`)
}, 5)
