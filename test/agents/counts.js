// Prints the numbers from 0 to 49, one each tenth of a second.
let n = 0
const timer = setInterval(() => {
  process.stdout.write(`${n++}\n`)
  if (n === 50) clearInterval(timer)
}, 100)
