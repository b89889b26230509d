import { operator } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import { reply } from '../../http/route.ts'
import { readMetrics } from './metrics.ts'

export const metricsRoutes = [
  route({
    id: 'instance.metrics',
    method: 'GET',
    path: '/api/metrics',
    summary: 'Get the metrics of the server in the format of Prometheus',
    description:
      'Requests by endpoint and status, batches of writes and their commits, delay of the event loop, runs by adapter and status, waiting wakes and their age, spend of the month, disk.',
    who: [operator],
    responses: { 200: 'text/plain' },
    run: async (ctx) => {
      const { text, contentType } = await readMetrics(ctx)
      return reply(200, text, { 'content-type': contentType })
    },
  }),
]
