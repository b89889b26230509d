import { SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace'
import type { Config } from './config.ts'
import type { Log } from './log.ts'
import type { FinishedSpan, SpanRef, Tracer } from './tracer.ts'

/** The time limit of one request to the collector with its retries, and of the last one at a stop, in milliseconds. */
const TIMEOUT_MS = 3_000

/**
 * Creates a tracer that sends spans to a collector by OTLP over HTTP, in
 * batches. The exporter itself reads the standard variables for headers,
 * certificates and compression, such as `OTEL_EXPORTER_OTLP_HEADERS`.
 *
 * This file is loaded only if tracing is on. Its libraries have 74 KB in the
 * bundle (18 KB compressed). They are used from the span processor on: spans of
 * runs have fixed ids and end in another process than the one that began them,
 * which the API for tracers does not support.
 *
 * @param endpoint the URL of the collector; `/v1/traces` is appended unless it is the end
 */
export function createOtlpTracer(
  endpoint: string,
  { version, instance }: Pick<Config, 'version' | 'instance'>,
  log: Log,
): Tracer {
  const url = /\/v1\/traces$/.test(endpoint) ? endpoint : `${endpoint.replace(/\/$/, '')}/v1/traces`
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: TIMEOUT_MS })
  const processor = new BatchSpanProcessor({
    exporter: reportFailures(exporter, url, log),
    exportTimeoutMillis: TIMEOUT_MS,
  })
  const origin = {
    resource: resourceFromAttributes({
      'service.name': process.env.OTEL_SERVICE_NAME || 'service',
      'service.version': version,
      'service.instance.id': instance,
    }),
    instrumentationScope: { name: 'service', version },
  }
  return {
    record: (span) => processor.onEnd({ ...toReadable(span), ...origin }),
    // A failure of the last request is reported like every other one.
    close: () => processor.shutdown().catch(() => {}),
  }
}

/** Logs the first failure of a row. Spans that cannot be sent are dropped. */
function reportFailures(exporter: SpanExporter, url: string, log: Log): SpanExporter {
  let isFailing = false
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.error && !isFailing) {
          const { host } = new URL(url)
          log.warn('Traces cannot be sent. Spans are dropped until the collector accepts them.', {
            host,
            error: result.error.message,
          })
        }
        isFailing = result.error !== undefined
        done(result)
      }),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  }
}

const KINDS = { server: SpanKind.SERVER, internal: SpanKind.INTERNAL } as const

function toReadable(span: FinishedSpan): Omit<ReadableSpan, 'resource' | 'instrumentationScope'> {
  const { name, kind, parent, links, startedAt, endedAt, attributes, error } = span
  return {
    name,
    kind: KINDS[kind],
    spanContext: () => toContext(span),
    ...(parent && { parentSpanContext: toContext(parent) }),
    startTime: toTime(startedAt),
    endTime: toTime(endedAt),
    duration: toTime(endedAt - startedAt),
    ended: true,
    status: error === null ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR, message: error },
    attributes: Object.fromEntries(
      Object.entries(attributes).flatMap(([key, value]) =>
        value === null ? [] : [[key, typeof value === 'object' ? [...value] : value]],
      ),
    ),
    links: links.map((link) => ({ context: toContext(link) })),
    events: [],
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  }
}

const toContext = ({ traceId, spanId }: SpanRef) => ({ traceId, spanId, traceFlags: TraceFlags.SAMPLED })

/** Converts milliseconds to seconds and nanoseconds. */
const toTime = (ms: number): [number, number] => [Math.floor(ms / 1_000), Math.round((ms % 1_000) * 1e6)]
