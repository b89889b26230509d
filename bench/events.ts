/**
 * Sends comments to 100 event streams. Measures the events per second, and the
 * time from the request to the last stream: `node bench/events.ts [sizes]`. Exits with 1 if a
 * median is over its goal, or if the rate falls by more than a third.
 */
import { connect } from 'node:net'
import { serve } from './process.ts'
import { measureAtSizes, SIZES } from './sizes.ts'

const STREAMS = 100
const COMMENTS = 300
const GOAL_MS = 50

await measureAtSizes(process.argv[2] ?? SIZES, async (dataDir, { companyId, issueIds }) => {
  const server = await serve('service', dataDir)
  let arrived = 0
  let wake = () => {}
  const sockets = Array.from({ length: STREAMS }, () => {
    const socket = connect(server.port, '127.0.0.1')
    socket.write(`GET /api/companies/${companyId}/events HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\n\r\n`)
    socket.on('data', (chunk) => {
      arrived += chunk.toString('latin1').split('event: issue.commented\n').length - 1
      wake()
    })
    return new Promise<typeof socket>((resolve) => socket.once('data', () => resolve(socket)))
  })
  const open = await Promise.all(sockets)
  const times: number[] = []
  const began = performance.now()
  for (let n = 0; n < COMMENTS; n++) {
    const sent = performance.now()
    const all = new Promise<void>((resolve) => {
      wake = () => {
        if (arrived >= (n + 1) * STREAMS) resolve()
      }
    })
    await fetch(`http://127.0.0.1:${server.port}/api/issues/${issueIds[n % issueIds.length]}/comments`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ body: `Comment ${n}.` }),
    })
    wake()
    await all
    times.push(performance.now() - sent)
  }
  const rate = arrived / ((performance.now() - began) / 1_000)
  for (const socket of open) socket.destroy()
  await server.stop()
  const median = times.toSorted((a, b) => a - b)[Math.floor(COMMENTS / 2)]!
  const isMet = median < GOAL_MS
  if (!isMet) process.exitCode = 1
  process.stdout.write(
    `${issueIds.length} issues, ${STREAMS} streams: ${rate.toFixed(0)} events/s, ${median.toFixed(1)} ms to the last stream, goal under ${GOAL_MS} ms  ${isMet ? 'met' : 'MISSED'}\n`,
  )
  return new Map([['events', rate]])
})
