// Prints its whole environment, also in base64, calls a port, and works until whoever is there hangs up.
import { connect } from 'node:net'

for (const [name, value] of Object.entries(process.env)) {
  process.stdout.write(`${name}=<${value}>, as base64 ${Buffer.from(`user:${value}`).toString('base64')}\n`)
}
connect(Number(process.argv[2]), '127.0.0.1')
  .resume()
  .on('close', () => process.exit(0))
