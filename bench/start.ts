/**
 * From the start of the process to the first healthy answer, on a database
 * that exists; then what an idle server takes of the processor and of memory.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { serve, withFolder } from './process.ts'
import { seed } from './seed.ts'

const IDLE_SECONDS = Number(process.argv[2] ?? 20)
const STARTS = 5
/** Of `/proc/<pid>/stat`, in ticks a second: Linux has it so on every machine. */
const TICKS = 100

await withFolder(async (dataDir) => {
  seed(dataDir, 10_000)
  const times: number[] = []
  for (let i = 0; i < STARTS; i++) {
    const started = performance.now()
    const server = await serve('service', dataDir)
    await (await fetch(`http://127.0.0.1:${server.port}/api/health`)).text()
    times.push(performance.now() - started)
    if (i === STARTS - 1) await idle(server.pid)
    await server.stop()
  }
  process.stdout.write(`start to healthy: ${times.map((ms) => ms.toFixed(0)).join(', ')} ms\n`)
})

async function idle(pid: number): Promise<void> {
  const ticks = () => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
    return Number(fields[11]) + Number(fields[12])
  }
  const before = ticks()
  await pause(IDLE_SECONDS * 1_000)
  const percent = ((ticks() - before) / TICKS / IDLE_SECONDS) * 100
  const rss = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  process.stdout.write(
    `idle for ${IDLE_SECONDS} s: ${percent.toFixed(2)} % of a core, ${Math.round(Number(rss) / 1_024)} MB\n`,
  )
}
