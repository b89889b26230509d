import { statfsSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Context } from '../../platform/context.ts'
import type { ReadJob } from '../../platform/database/reader.ts'
import { raw, sql } from '../../platform/database/sql.ts'
import type { Histogram } from '../../platform/metrics.ts'

interface Figures {
  runs: { adapter: string; status: string; n: number }[]
  wakes: { n: number; oldest: string | null }
  spend: { company: string; micros: number }[]
}

/** Counts the metrics that are stored in the database. It runs in the reader, because the number of daily totals grows with time. */
export const metricsJob: ReadJob<{ month: string }, Figures> = {
  name: 'instance.metrics',
  run: (db, { month }) => ({
    runs: db.all(
      raw<Figures['runs'][number]>`select adapter_type as adapter, status, sum(n) as n
        from company_run_total group by 1, 2`.compile(sql),
    ),
    wakes: db.all(
      raw<Figures['wakes']>`select count(*) as n, min(created_at) as oldest from wake where status = 'waiting'`.compile(
        sql,
      ),
    )[0]!,
    spend: db.all(
      raw<Figures['spend'][number]>`select company.issue_prefix as company, cost_micros as micros
        from company cross join cost_total
        where company_id = company.id and kind = 'company' and period = ${month} and key = ''`.compile(sql),
    ),
  }),
}

/** Reads all metrics, in the text format of Prometheus. */
export async function readMetrics(ctx: Context): Promise<{ text: string; contentType: string }> {
  // Loaded at the first read of the metrics. Loading takes 50 ms, which would delay the start of the server.
  // A bundle has a CommonJS package as its default export alone.
  const { Gauge, Registry } = (await import('prom-client')).default
  const registry = new Registry()
  const gauge = <const Labels extends string>(name: string, help: string, labelNames: readonly Labels[] = []) =>
    new Gauge({ name, help, labelNames: [...labelNames], registers: [registry] })
  for (const histogram of ctx.metrics.histograms) {
    registry.registerMetric({ name: histogram.name, get: async () => samplesOf(histogram) } as never)
  }
  const figures = await ctx.reader.run(metricsJob, { month: ctx.now.slice(0, 7) })

  const delay = gauge('service_event_loop_delay_seconds', 'Delay of the event loop since the last reading.', [
    'quantile',
  ])
  for (const { quantile, seconds } of ctx.metrics.readEventLoopDelay()) delay.set({ quantile }, seconds)
  gauge('service_resident_memory_bytes', 'Memory of the server process.').set(process.memoryUsage.rss())

  const runs = gauge('service_runs', 'Runs, by the adapter of their agent and by status.', ['adapter', 'status'])
  for (const { adapter, status, n } of figures.runs) runs.set({ adapter, status }, n)

  gauge('service_wakes_waiting', 'Wakes that wait for their run.').set(figures.wakes.n)
  const { oldest } = figures.wakes
  const age = oldest === null ? 0 : Math.max(0, (Date.parse(ctx.now) - Date.parse(oldest)) / 1_000)
  gauge('service_wakes_oldest_seconds', 'Age of the oldest wake that waits; 0 if none does.').set(age)

  const spend = gauge('service_spend_dollars', 'Cost of the calendar month (UTC), by company.', ['company'])
  for (const { company, micros } of figures.spend) spend.set({ company }, micros / 1e6)

  const disk = gauge('service_disk_bytes', 'Size of the database and its write-ahead log, and free space.', ['what'])
  const file = path.join(ctx.config.dataDir, 'service.db')
  const { bavail, bsize } = statfsSync(ctx.config.dataDir)
  disk.set({ what: 'database' }, sizeOf(file))
  disk.set({ what: 'wal' }, sizeOf(`${file}-wal`))
  disk.set({ what: 'free' }, bavail * bsize)
  return { text: await registry.metrics(), contentType: registry.contentType }
}

/** A histogram as a registry of prom-client reads it: each bucket counts the ones below it too. */
function samplesOf({ name, help, buckets, series }: Histogram) {
  const values = [...series.values()].flatMap(({ labels, counts, sum }) => {
    let total = 0
    const cumulative = counts.map((count, i) => {
      total += count
      return { metricName: `${name}_bucket`, labels: { ...labels, le: buckets[i] ?? '+Inf' }, value: total }
    })
    return [
      ...cumulative,
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: total },
    ]
  })
  return { name, help, type: 'histogram', values }
}

const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0
