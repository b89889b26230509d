// Prints as many megabytes as its argument says, between a first and a last line.
import { writeSync } from 'node:fs'

const line = 'x'.repeat(1023)
const block = Buffer.from(`${line}\n`.repeat(1024))
const print = (bytes) => {
  for (let rest = bytes; rest.length > 0; ) {
    try {
      rest = rest.subarray(writeSync(1, rest))
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error
    }
  }
}
print(Buffer.from('the first line\n'))
for (let i = 0; i < Number(process.argv[2]); i++) print(block)
print(Buffer.from('the last line\n'))
