import { monitorEventLoopDelay } from 'node:perf_hooks'

/** Observations, counted by bucket, as Prometheus' histograms have them. */
export interface Histogram {
  name: string
  help: string
  /** The upper limits of the buckets, ascending. One more bucket counts all larger values. */
  buckets: readonly number[]
  series: Map<string, HistogramSeries>
}

export interface HistogramSeries {
  labels: Record<string, string>
  counts: number[]
  sum: number
}

/** The metrics of a server. This object only counts; a read of the metrics formats them. */
export interface Metrics {
  histograms: readonly Histogram[]
  /** Counts a response of an endpoint, with the seconds from its routing to its head. */
  countRequest(route: string, status: number, seconds: number): void
  /** Counts a commit, with the seconds of the whole batch. */
  countBatch(writes: number, seconds: number): void
  /** Returns the delay of the event loop since the last call, in seconds by quantile. The first call begins to measure. */
  readEventLoopDelay(): { quantile: number; seconds: number }[]
  close(): void
}

/** How precisely the delay of the event loop is sampled, in milliseconds. */
const RESOLUTION_MS = 20

export function createMetrics(): Metrics {
  const histogram = (name: string, help: string, buckets: readonly number[]): Histogram => ({
    name,
    help,
    buckets,
    series: new Map(),
  })
  const requests = histogram(
    'service_http_request_duration_seconds',
    'Time to respond to requests, by endpoint and status.',
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
  )
  const batches = histogram('service_write_batch_size', 'Writes that shared one commit.', [1, 2, 4, 8, 16, 32, 64, 128])
  const commits = histogram(
    'service_write_commit_seconds',
    'Time of a batch of writes, with its commit.',
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1],
  )
  let delay: ReturnType<typeof monitorEventLoopDelay> | undefined
  return {
    histograms: [requests, batches, commits],
    countRequest(route, status, seconds) {
      observe(requests, seconds, `${route} ${status}`, () => ({ route, status: String(status) }))
    },
    countBatch(writes, seconds) {
      observe(batches, writes)
      observe(commits, seconds)
    },
    readEventLoopDelay() {
      if (!delay) {
        delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
        delay.enable()
        return []
      }
      const measured = delay
      const read = [0.5, 0.99, 1].map((quantile) => ({
        quantile,
        seconds: Math.max(0, measured.percentile(quantile * 100) / 1e9 - RESOLUTION_MS / 1_000),
      }))
      delay.reset()
      return read
    },
    close: () => delay?.disable(),
  }
}

function observe(
  histogram: Histogram,
  value: number,
  key = '',
  labels: () => Record<string, string> = () => ({}),
): void {
  const { buckets, series } = histogram
  let found = series.get(key)
  if (!found) {
    found = { labels: labels(), counts: new Array<number>(buckets.length + 1).fill(0), sum: 0 }
    series.set(key, found)
  }
  let bucket = 0
  while (bucket < buckets.length && value > buckets[bucket]!) bucket++
  found.counts[bucket]!++
  found.sum += value
}
