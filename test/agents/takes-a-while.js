// Works for so many milliseconds, then leaves a note of how it ended in the folder that it was given.
import { writeFileSync } from 'node:fs'
import path from 'node:path'

const [ms = '1000', folder = '.', code = '0'] = process.argv.slice(2)
const note = (name, text) => writeFileSync(path.join(folder, `${process.env.SERVICE_RUN_ID}.${name}`), text)
note('begun', String(process.pid))
process.stdout.write('working\n')
setTimeout(() => {
  note('ended', code)
  process.exitCode = Number(code)
}, Number(ms))
