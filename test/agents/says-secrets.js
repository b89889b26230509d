// Prints what its environment holds of the names it is given.
for (const name of process.argv.slice(2)) process.stdout.write(`${name}=<${process.env[name]}>\n`)
process.stdout.write(`sent ${Buffer.from(process.env[process.argv[2]] ?? '').toString('base64')}\n`)
// Arguments are for every process of the machine to read: no secret may stand in those of this run.
const { readdirSync, readFileSync } = await import('node:fs')
const processes = process.platform === 'linux' ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : []
const commandLines = processes.map((pid) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return '' // It has ended.
  }
})
if (commandLines.some((line) => line.includes(process.env[process.argv[2]]))) process.exitCode = 3
