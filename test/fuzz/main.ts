// Sends 100,000 requests generated from the schemas of the endpoints, in both modes or in one:
//   npm run prove:fuzz -- --requests 100000 --seed 7 --mode authenticated
import { test } from 'node:test'
import { parseArgs } from 'node:util'
import { fuzz } from './fuzz.ts'

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    mode: { type: 'string' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
  },
})
const seed = Number(values.seed)
const requests = Number(values.requests)

const modes = (['local_trusted', 'authenticated'] as const).filter((mode) => !values.mode || values.mode === mode)

for (const mode of modes) {
  test(`${requests} requests, seed ${seed}, ${mode} mode`, async (t) => {
    const responses = await fuzz(t, { seed, requests, mode }).catch((error: Error) => {
      // At once: the report of the test follows after the other mode.
      process.stderr.write(`${error.message}\n`)
      throw error
    })
    for (const [id, statuses] of [...responses].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      const counts = [...statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
      t.diagnostic(`${id.padEnd(28)} ${counts.join(', ')}`)
    }
  })
}
