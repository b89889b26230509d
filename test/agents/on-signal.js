// Prints a line at once and one for each file that appears in its directory; ends when the file is named `end`.
import { watch } from 'node:fs'

const seen = new Set()
const watcher = watch('.', (_, name) => {
  if (seen.has(name)) return
  seen.add(name)
  process.stdout.write(`${name}\n`)
  if (name === 'end') watcher.close()
})
process.stdout.write('begun\n')
