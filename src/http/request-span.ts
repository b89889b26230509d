import { randomBytes } from 'node:crypto'
import { parseTraceparent, type SpanRef, type Tracer } from '../platform/tracer.ts'
import type { HttpRequest, HttpResponse } from './handler.ts'
import type { Endpoint } from './route.ts'

/** The span of one request. */
export interface RequestSpan {
  /**
   * Sets the span of the caller's run, or null for another caller. The requests
   * of anonymous callers (undefined) and of rejected ones are not recorded.
   */
  setRun(span: SpanRef | null | undefined): void
  end(response: HttpResponse, ms: number): void
}

/**
 * Begins the span of a request. It is recorded if the request belongs to a
 * trace: by the header `traceparent`, or because a run sends it. Other requests
 * would each be a trace of one span; the metrics count them.
 */
export function beginRequestSpan(tracer: Tracer, { id, method, path }: Endpoint, request: HttpRequest): RequestSpan {
  const startedAt = Date.now()
  let run: SpanRef | null | undefined
  return {
    setRun(span) {
      run = span
    },
    end(response, ms) {
      if (run === undefined) return
      const parent = parseTraceparent(request.header('traceparent')) ?? run
      if (!parent) return
      const { status } = response
      const error = status >= 500 ? String(status) : null
      tracer.record({
        traceId: parent.traceId,
        spanId: randomBytes(8).toString('hex'),
        // The path of the endpoint, since the path of the request may contain a token.
        name: `${method} ${path}`,
        kind: 'server',
        parent,
        links: run && run.traceId !== parent.traceId ? [run] : [],
        startedAt,
        endedAt: startedAt + ms,
        attributes: {
          'http.request.method': method,
          'http.route': path,
          'http.response.status_code': status,
          'service.endpoint': id,
          'service.request.id': response.headers['x-request-id']!,
          'error.type': error,
        },
        error,
      })
    },
  }
}
