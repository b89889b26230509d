import type { Fact, OutputReader, ReaderInput } from './adapter.ts'
import { followOpencodeDatabase, opencodeDatabase, opencodeUsage } from './opencode-database.ts'
import { createRefusalWatch, unauthorized } from './refusals.ts'
import { isRateLimit, isUsageLimit, resetTime } from './reset-time.ts'
import { deadSession, isContextOverflow } from './session.ts'
import { asCount, asObject, asSessionId, asText, cut, type Json, parseLine } from './usage.ts'
import { createUsageLedger } from './usage-ledger.ts'

/** A line of the program's log on a request that failed: `level=ERROR message="stream error" ... error.error="AI_APICallError: Overloaded"`. */
const STREAM_ERROR = /message="stream error".*?\berror\.error="(?:AI_\w+: )?((?:[^"\\]|\\.)+)"/

/** A line of the program's log on a step that failed: `level=ERROR message=process ... error="prompt is too long"`. */
const STEP_ERROR = /message=process .*?\berror="((?:[^"\\]|\\.)+)"/

/** The first line of the help, which the program prints instead of an error if it does not know an argument. */
const HELP = /^opencode run \[message\.\.\]/
const BAD_ARGUMENT =
  'The program printed its help instead of working. It does so for unknown arguments: check extraArgs.'

/**
 * Creates the reader of `opencode run --format json` and of the program's
 * database.
 *
 * Each step of the model ends with its tokens and its cost. The output omits the
 * sub-agents and does not name the model; the database has both. Without the
 * database, the configured model applies, or `default`. A reported cost of 0
 * means that the program does not know the price; it is estimated, or unpriced.
 */
export function opencodeReader(config: { model?: string | undefined }, run: ReaderInput, now = Date.now): OutputReader {
  const configured = modelOf(config.model)
  const ledger = createUsageLedger()
  const file = opencodeDatabase(run.env ?? {})
  const database = followOpencodeDatabase(file)
  const past = run.session ? database.read(run.session.id) : []
  const earlier = new Set(past.map(({ id }) => id))
  const refusals = createRefusalWatch(now)
  let session: string | null = null
  let isRetrying = false
  /** The error of a session that exceeds the context. The program then compacts it and continues, or ends. */
  let overflow: { error: string; at: number } | null = null
  let hasErred = false

  return {
    line(text) {
      const line = parseLine(text)
      if (!line) return []
      const part = asObject(line.part)
      return [...inSession(line), ...onLine(line, part)]
    },
    poll,
    errorLine(text) {
      if (run.session !== null && /\bsession not found\b/i.test(text))
        return deadSession('The program does not know the session any more.')
      if (HELP.test(text)) return [{ kind: 'outcome', ok: false, code: 'usage', message: BAD_ARGUMENT }]
      const error = STREAM_ERROR.exec(text)?.[1]
      const cause = cut(error ?? STEP_ERROR.exec(text)?.[1] ?? '', 300)
      if (isContextOverflow(cause)) overflow = { error: cause, at: timeOf(text) ?? now() }
      return error ? onStreamError(cause) : []
    },
  }

  function onLine(line: Json, part: Json): Fact[] {
    // Both streams arrive independently, so only the times tell which was first.
    if (overflow && endOf(part) > overflow.at) overflow = null
    if (line.type !== 'error') return [...onResponse(), ...onEvent(line, part)]
    return onError(asObject(line.error), asCount(line.timestamp) || now())
  }

  /** Notes that the provider responded, which ends a series of retries. */
  function onResponse(): Fact[] {
    refusals.accepted()
    if (!isRetrying) return []
    isRetrying = false
    return [{ kind: 'retrying', text: null }]
  }

  /** Reads a request that failed. The program retries it, compacts its session, or reports an error. */
  function onStreamError(error: string): Fact[] {
    if (isRateLimit(error) || /rate.?limit|\bquota\b/i.test(error)) refusals.refused(error)
    isRetrying = true
    return [{ kind: 'retrying', text: `retrying: ${error}` }]
  }

  function onEvent(line: Json, part: Json): Fact[] {
    switch (line.type) {
      case 'text': {
        const text = asText(part.text)
        return text.trim() ? [{ kind: 'text', text: cut(text) }] : []
      }
      case 'step_finish':
        return [...onUsage(part), ...(part.reason === 'stop' ? [success()] : [])]
      default:
        return []
    }
  }

  function inSession(line: Json): Fact[] {
    const id = asSessionId(line.sessionID)
    if (!id || id === session) return []
    session = id
    const before = { step: past.reduce((latest, { createdAt }) => Math.max(latest, createdAt), 0) }
    const store = file && ({ kind: 'session_store', program: 'opencode', path: file, session: id, before } as const)
    return [{ kind: 'session', id }, ...(store ? [store] : [])]
  }

  function onUsage(part: Json): Fact[] {
    const id = asText(part.id)
    readDatabase()
    if (!ledger.has(id)) ledger.set(id, { ...configured, ...opencodeUsage(part) })
    return ledger.facts()
  }

  function poll(isEnd = false): Fact[] {
    readDatabase()
    return [...ledger.facts(), ...refusals.facts(), ...(isEnd && overflow ? deadSession(overflow.error) : [])]
  }

  function readDatabase(): void {
    if (!session) return
    for (const { id, usage } of database.read(session)) if (!earlier.has(id)) ledger.set(id, usage)
  }

  /** After an error event, the program ends with 1 even if it continued and completed its work. */
  function success(): Fact {
    return { kind: 'outcome', ok: true, code: null, message: null, ...(hasErred && { exitCode: 1 }) }
  }

  function onError(error: Json, at: number): Fact[] {
    hasErred = true
    refusals.accepted()
    const data = asObject(error.data)
    const message = cut(
      asText(data.message) || asText(error.message) || asText(error.name) || 'It ended with an error.',
    )
    if (isContextOverflow(message)) {
      overflow ??= { error: message, at }
      return []
    }
    if (data.statusCode === 429 || isUsageLimit(message) || isRateLimit(message)) {
      return [
        { kind: 'rate_limited', until: resetTime(message, now()) },
        { kind: 'outcome', ok: false, code: 'rate_limited', message },
      ]
    }
    const status = asCount(data.statusCode)
    if (status === 401 || status === 403) return [unauthorized(`${status} ${message}`)]
    return [{ kind: 'outcome', ok: false, code: 'error', message }]
  }
}

/** Returns the time of a line of the log in milliseconds. */
function timeOf(text: string): number | null {
  const time = Date.parse(/\btimestamp=(\S+)/.exec(text)?.[1] ?? '')
  return Number.isNaN(time) ? null : time
}

/** Returns the end of a text or a tool call in milliseconds, 0 for other parts. The line itself is printed later. */
const endOf = (part: Json): number => asCount(asObject(part.time ?? asObject(part.state).time).end)

/** Splits a name of the form `provider/model`. The model's own name may contain slashes. */
function modelOf(name: string | undefined): { provider: string; model: string } {
  const [, provider, model] = /^([^/]+)\/(.+)$/.exec(name ?? '') ?? []
  return { provider: provider ?? 'opencode', model: model ?? name ?? 'default' }
}
