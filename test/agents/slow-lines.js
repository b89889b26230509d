// Prints one line in pieces, and ends well after a second.
const pieces = ['one ', 'piece ', 'at a time\n']
const timer = setInterval(() => {
  const piece = pieces.shift()
  if (piece) process.stdout.write(piece)
  else {
    clearInterval(timer)
    process.exitCode = 7
  }
}, 300)
