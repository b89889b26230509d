/** The ids of a span, in lower-case hex: 32 characters of its trace and 16 of its own. */
export interface SpanRef {
  traceId: string
  spanId: string
}

/** A span that has ended. Its attributes contain ids and statuses, and no text of users or programs. */
export interface FinishedSpan extends SpanRef {
  name: string
  kind: 'server' | 'internal'
  parent: SpanRef | null
  /** The spans of other traces that caused this one. */
  links: readonly SpanRef[]
  /** In milliseconds since 1970. */
  startedAt: number
  endedAt: number
  /** Attributes with the value null are left out. */
  attributes: Readonly<Record<string, string | number | readonly string[] | null>>
  /** The code of the failure, or null. */
  error: string | null
}

/** Sends spans to a collector of OpenTelemetry. */
export interface Tracer {
  record(span: FinishedSpan): void
  /** Sends the remaining spans. */
  close(): Promise<void>
}

/**
 * Derives the span of a record from its id, a UUID. The trace of a run therefore
 * needs no storage, and a server that adopts the run continues its trace.
 */
export function spanOfId(id: string): SpanRef {
  const traceId = id.replaceAll('-', '')
  return { traceId, spanId: traceId.slice(16) }
}

/** Formats a span as the header `traceparent` of W3C Trace Context. */
export const toTraceparent = ({ traceId, spanId }: SpanRef): string => `00-${traceId}-${spanId}-01`

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/

/** Parses a header `traceparent`. Returns null if it is invalid or its trace is not recorded. */
export function parseTraceparent(header: string | undefined): SpanRef | null {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(header ?? '') ?? []
  if (traceId === undefined || spanId === undefined) return null
  const isSampled = (Number.parseInt(flags!, 16) & 1) === 1
  return isSampled ? { traceId, spanId } : null
}
