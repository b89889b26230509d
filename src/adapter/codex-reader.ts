import type { Fact, OutputReader, ReaderInput } from './adapter.ts'
import { createThreadMeter, type UsedByModel } from './codex-meter.ts'
import { codexHome, codexTokens, findSessionFile, openSessionFile } from './codex-session-file.ts'
import { followCodexSubagents } from './codex-subagents.ts'
import { isRateLimit, isUsageLimit, resetTime } from './reset-time.ts'
import { deadSession, isContextOverflow } from './session.ts'
import { createSearchPauses, type Tail } from './tail.ts'
import { asObject, asSessionId, asText, cut, type Json, NOTHING, parseLine, parseTotals, plus } from './usage.ts'

/**
 * Creates the reader of `codex exec --json` and of the program's session file.
 *
 * Standard output contains tokens only in `turn.completed`, at the end of a
 * turn, and does not name the model. The session file contains the tokens after
 * each call of the model, and the model's name. Both count the whole thread. The
 * usage of the run is the difference from the thread's total at its start, which
 * comes from the file or, without a file, from the stored session. The program
 * reports no cost, so it is estimated from the model. If neither the file nor
 * the configuration names the model, it is `default`, which is unpriced.
 */
export function codexReader(config: { model?: string | undefined }, run: ReaderInput, now = Date.now): OutputReader {
  const home = codexHome(run.env ?? {})
  let thread = run.session?.id ?? null
  let announced: string | null = null
  // The stored totals are those of one thread, by model.
  let before = [...parseTotals(run.session?.totals).values()].reduce(plus, NOTHING)
  let model = config.model || 'default'
  let file: Tail | null = null
  let pending: Fact[] = []
  const isSearchDue = createSearchPauses()
  let isRetrying = false
  if (thread) followResumed(thread)
  const used: UsedByModel = new Map()
  let meter = createThreadMeter({ before, model }, used)
  const subagents =
    home === null
      ? null
      : followCodexSubagents(home, used, { skips: thread, onFacts: (facts) => pending.push(...facts) })

  return {
    line(text) {
      const line = parseLine(text)
      if (!line) return []
      switch (line.type) {
        case 'thread.started':
          return onThread(line)
        case 'item.completed':
          // By now, the session file has the tokens of the calls before the item.
          return [...poll(), ...onItem(asObject(line.item))]
        case 'turn.completed':
          // The file comes first, because it names the model of this usage.
          return [
            ...poll(),
            ...meter.add(codexTokens(asObject(line.usage)), 'output'),
            { kind: 'outcome', ok: true, code: null, message: null },
          ]
        case 'turn.failed':
          return onFailure(cut(asText(asObject(line.error).message) || asText(line.error) || 'The turn failed.'))
        case 'error':
          return onError(cut(asText(line.message)))
        default:
          return []
      }
    },
    errorLine(text) {
      const line = cut(text)
      return isDead(line) ? deadSession(line) : []
    },
    poll,
  }

  /** Reads the new content of the session file. */
  function poll(isEnd = false): Fact[] {
    if (!file && thread && thread !== run.session?.id && isSearchDue(isEnd)) followFresh(thread)
    file?.read()
    if (thread && announced) subagents?.read(thread)
    const facts = pending
    pending = []
    return facts
  }

  /** Follows the file of a resumed thread from its present end. Its content so far belongs to earlier runs. */
  function followResumed(id: string): void {
    const path = home && findSessionFile(home, id)
    if (!path) return
    const past = openSessionFile(path, 0, {
      onModel: (name) => {
        if (!config.model) model = name
      },
      onTotal: (total) => {
        before = total
      },
    })
    past.read()
    follow(path, past.offset())
  }

  function followFresh(id: string): void {
    const path = home && findSessionFile(home, id)
    if (path) follow(path, 0)
  }

  function follow(path: string, offset: number): void {
    file = openSessionFile(path, offset, {
      onModel: (name) => meter.setModel(name),
      onTotal: (total) => pending.push(...meter.add(total, 'file')),
    })
    pending.push({ kind: 'session_file', path, offset, before, model })
  }

  function onThread(line: Json): Fact[] {
    const id = asSessionId(line.thread_id)
    if (!id || id === announced) return []
    if (id !== thread) {
      before = NOTHING // the program started a new thread instead of the resumed one
      meter = createThreadMeter({ before, model: config.model || 'default' }, used)
      file = null
    }
    thread = id
    announced = id
    return [{ kind: 'session', id }, ...poll()]
  }

  function onItem(item: Json): Fact[] {
    if (item.type === 'error') return []
    const facts: Fact[] = isRetrying ? [{ kind: 'retrying', text: null }] : []
    isRetrying = false
    const text = asText(item.text)
    return item.type === 'agent_message' && text.trim() ? [...facts, { kind: 'text', text: cut(text) }] : facts
  }

  /**
   * Reads a top-level error, which is not fatal: the program reconnects. After a
   * 429, however, it waits silently for as long as the provider says, even hours.
   */
  function onError(message: string): Fact[] {
    if (isRateLimit(message)) return [...rateLimited(message), { kind: 'give_up' }]
    const [, attempt, most] = /^reconnecting\D*(\d+)\/(\d+)/i.exec(message) ?? []
    if (!attempt) return []
    const cause = /\(([^()]+)\)?\s*$/.exec(message)?.[1]
    isRetrying = true
    return [{ kind: 'retrying', text: `retrying ${attempt} of ${most}${cause ? `: ${cut(cause, 200)}` : ''}` }]
  }

  function rateLimited(message: string): Fact[] {
    return [
      { kind: 'rate_limited', until: resetTime(message, now()) },
      { kind: 'outcome', ok: false, code: 'rate_limited', message },
    ]
  }

  function onFailure(message: string): Fact[] {
    if (isDead(message) || isContextOverflow(message)) return deadSession(message)
    if (isUsageLimit(message) || isRateLimit(message)) return rateLimited(message)
    return [{ kind: 'outcome', ok: false, code: 'turn_failed', message }]
  }

  function isDead(text: string): boolean {
    return run.session !== null && /\bno (?:archived )?rollout found\b|\bthread not found\b/i.test(text)
  }
}
