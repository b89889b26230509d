import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Gauge, Histogram, Registry } from 'prom-client'

/** What the server measures about itself, in Prometheus' format. */
export interface Metrics {
  registry: Registry
  /** Counts a response of an endpoint. `seconds` is the time from the routed request to the response's head. */
  countRequest(route: string, status: number, seconds: number): void
  /** Counts a commit. `seconds` is the time of the whole batch. */
  countBatch(writes: number, seconds: number): void
  close(): void
}

/** How precisely the delay of the event loop is sampled, in milliseconds. */
const RESOLUTION_MS = 20

/** Creates the metrics of one server. Nothing is computed until they are read, except the counts. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const requests = new Histogram({
    name: 'service_http_request_duration_seconds',
    help: 'Time to respond to requests, by endpoint and status.',
    labelNames: ['route', 'status'] as const,
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers,
  })
  const batches = new Histogram({
    name: 'service_write_batch_size',
    help: 'Writes that shared one commit.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128],
    registers,
  })
  const commits = new Histogram({
    name: 'service_write_commit_seconds',
    help: 'Time of a batch of writes, with its commit.',
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1],
    registers,
  })
  // The sampling starts with the first scrape: an idle server does nothing.
  let delay: ReturnType<typeof monitorEventLoopDelay> | undefined
  new Gauge({
    name: 'service_event_loop_delay_seconds',
    help: 'Delay of the event loop since the last scrape, by quantile.',
    labelNames: ['quantile'] as const,
    registers,
    collect() {
      if (!delay) {
        delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
        delay.enable()
        return
      }
      for (const quantile of [0.5, 0.99, 1]) {
        const nanoseconds = delay.percentile(quantile * 100) - RESOLUTION_MS * 1e6
        this.set({ quantile }, Math.max(0, nanoseconds / 1e9))
      }
      delay.reset()
    },
  })
  new Gauge({
    name: 'service_resident_memory_bytes',
    help: 'Memory of the server process.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss())
    },
  })
  // `labels` is slow, so the child of each pair is kept: there are few.
  const children = new Map<string, { observe(value: number): void }>()
  return {
    registry,
    countRequest(route, status, seconds) {
      const key = `${route} ${status}`
      let child = children.get(key)
      if (!child) {
        child = requests.labels({ route, status: String(status) })
        children.set(key, child)
      }
      child.observe(seconds)
    },
    countBatch(writes, seconds) {
      batches.observe(writes)
      commits.observe(seconds)
    },
    close: () => delay?.disable(),
  }
}
