// Prints its secret in every form, some of them in two halves.
const secret = process.env.SECRET
const halves = (text) => [text.slice(0, 5), text.slice(5)]
const pieces = [
  `plain ${secret} ok\n`,
  ...halves(secret),
  `\nbase64 ${Buffer.from(secret).toString('base64')} ok\n`,
  `basic ${Buffer.from(`user:${secret}`).toString('base64')}\n`,
  `url ${encodeURIComponent(secret)} ok\n`,
  `json ${JSON.stringify({ secret })}\n`,
  'the end\n',
]
const timer = setInterval(() => {
  const piece = pieces.shift()
  if (piece) process.stdout.write(piece)
  else clearInterval(timer)
}, 10)
