import { lstatSync } from 'node:fs'
import path from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { UsageTotals } from './adapter.ts'
import { asCount, asDollars, asObject, asText, cut, type Json, parseLine } from './usage.ts'
import type { MessageUsage } from './usage-ledger.ts'

/** A finished call of a model, with the model that the output of the program does not name. */
export interface OpencodeStep {
  id: string
  /** Milliseconds since 1970. */
  createdAt: number
  usage: MessageUsage
}

/** A step is stored shortly after its time of creation, in milliseconds. */
const LATENCY_MS = 60_000

/** Returns the path of the database in which `opencode` stores its sessions, or null if the environment does not define one. */
export function opencodeDatabase(env: Readonly<Record<string, string>>): string | null {
  if (env.SANDBOX_STATE_DIR) return path.join(env.SANDBOX_STATE_DIR, 'storage/opencode.db')
  const data = env.XDG_DATA_HOME || (env.HOME ? path.join(env.HOME, '.local/share') : null)
  return data && path.resolve(data, 'opencode', env.OPENCODE_DB || 'opencode.db')
}

const STEPS = `with recursive tree (id) as (
    select ? union select session.id from session join tree on session.parent_id = tree.id
  )
  select part.id, part.time_created, part.data, message.data ->> '$.providerID' as provider, message.data ->> '$.modelID' as model
  from tree join part on part.session_id = tree.id join message on message.id = part.message_id
  where part.time_created >= ? and part.data ->> '$.type' = 'step-finish'`

/**
 * Follows the database in which `opencode` stores the steps of a session and of
 * its sub-agents. The output omits the sub-agents and the model's name. If the
 * database cannot be read, there are no steps, and the output still provides
 * those of the session itself.
 */
export function followOpencodeDatabase(file: string | null) {
  let database: DatabaseSync | null = null
  let version: unknown
  let since = 0

  return {
    /** Returns the steps of a session that were stored since the last call. It may repeat a step. */
    read(session: string): OpencodeStep[] {
      try {
        database ??= open(file)
        if (!database) return []
        const before = version
        version = database.prepare('pragma data_version').get()?.data_version
        if (version === before) return []
        const from = since
        since = Date.now() - LATENCY_MS
        return database.prepare(STEPS).all(session, from).map(toStep)
      } catch {
        return [] // it does not exist yet, it is locked for a moment, or another version has other tables
      }
    },
  }
}

/** Node has the module since 22.13. */
function open(file: string | null): DatabaseSync | null {
  // A pipe would block, and a link could lead to a database of the user.
  if (file === null || !lstatSync(file).isFile()) return null
  const sqlite = process.getBuiltinModule('node:sqlite')
  return sqlite ? new sqlite.DatabaseSync(file, { readOnly: true }) : null
}

const toStep = (row: Record<string, unknown>): OpencodeStep => ({
  id: asText(row.id),
  createdAt: asCount(row.time_created),
  usage: {
    provider: asText(row.provider) || 'opencode',
    model: cut(asText(row.model) || 'default', 200),
    ...opencodeUsage(parseLine(asText(row.data)) ?? {}),
  },
})

/** Parses the tokens and the cost of a `step-finish`. */
export function opencodeUsage(part: Json): UsageTotals {
  const tokens = asObject(part.tokens)
  const cache = asObject(tokens.cache)
  return {
    inputTokens: asCount(tokens.input) + asCount(cache.write),
    cachedInputTokens: asCount(cache.read),
    outputTokens: asCount(tokens.output) + asCount(tokens.reasoning),
    costUsd: asDollars(part.cost),
  }
}
