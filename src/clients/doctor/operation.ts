import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { hostOfWebhook } from '../../access/webhook/webhook.ts'
import { findFreeze } from '../../organization/instance/queries.ts'
import type { Db } from '../../platform/database/db.ts'
import { sql } from '../../platform/database/sql.ts'
import type { Check, Finding } from './check.ts'
import { sizeText } from './disk-use.ts'
import { readDatabase } from './read-database.ts'

const MB = 1024 * 1024

/** SQLite truncates the log at 64 MB. A larger one means that a reader never ends, or that no checkpoint succeeds. */
const LARGE_WAL = 256 * MB

export const walCheck: Check = {
  id: 'wal',
  title: 'Database log',
  run({ dataDir }) {
    const bytes = statSync(path.join(dataDir, 'service.db-wal'), { throwIfNoEntry: false })?.size ?? 0
    const message = `service.db-wal has ${sizeText(bytes)}.`
    if (bytes < LARGE_WAL) return [{ status: 'ok', message, details: { bytes } }]
    const hint = 'End programs that read the database for a long time, then restart the server.'
    return [{ status: 'warning', message, hint, details: { bytes } }]
  },
}

/** Each live run, connection and event stream takes file descriptors. */
const FEW_FILES = 1_024

/** The limit of open files of a server that is started like this command (Linux). */
export const fileLimitCheck: Check = {
  id: 'file_limit',
  title: 'Open files',
  run() {
    if (process.platform !== 'linux') return [{ status: 'ok', message: 'The limit is not known on this system.' }]
    const [, limit = ''] = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    const message = `At most ${limit} files can be open.`
    if (limit === 'unlimited' || Number(limit) >= FEW_FILES) return [{ status: 'ok', message, details: { limit } }]
    return [{ status: 'warning', message, hint: `Raise it to ${FEW_FILES} or more: ulimit -n.`, details: { limit } }]
  },
}

/** A freeze, in which no run starts. */
export const freezeCheck: Check = {
  id: 'freeze',
  title: 'Runs',
  run({ dataDir }) {
    const freeze = readDatabase(dataDir, findFreeze)
    if (!freeze) return [{ status: 'ok', message: 'Runs are not frozen.' }]
    const message = sentence(`All runs are frozen since ${freeze.created_at}`, freeze.reason)
    return [
      { status: 'warning', message, hint: 'End the freeze: service thaw.', details: { frozenAt: freeze.created_at } },
    ]
  },
}

/** Agents that errors or failures stopped, and webhooks that the server disabled. */
export const failingCheck: Check = {
  id: 'failing',
  title: 'Failing',
  run({ dataDir }) {
    const found = readDatabase(dataDir, listFailing) ?? []
    return found.length > 0 ? found : [{ status: 'ok', message: 'No agent and no webhook is failing.' }]
  },
}

function listFailing(db: Db): Finding[] {
  const agents = db.all(
    sql
      .selectFrom('agent')
      .select(['id', 'name', 'status', 'error_reason', 'pause_message'])
      .where((eb) => eb.or([eb('status', '=', 'error'), eb('pause_reason', 'in', ['failures', 'loop'])]))
      .where('status', 'in', ['error', 'paused']),
  )
  const webhooks = db.all(
    sql.selectFrom('webhook').select(['id', 'url', 'disabled_why']).where('disabled_why', 'in', ['failing', 'gone']),
  )
  return [
    ...agents.map(
      ({ id, name, status, error_reason, pause_message }): Finding => ({
        status: 'warning',
        message: sentence(
          `${name} is ${status === 'error' ? 'stopped by errors' : 'paused'}`,
          error_reason ?? pause_message,
        ),
        hint: 'Look at its last run: service run list. Then: service agent resume NAME.',
        details: { agentId: id },
      }),
    ),
    ...webhooks.map(
      ({ id, url, disabled_why }): Finding => ({
        status: 'warning',
        message: `The webhook to ${hostOfWebhook({ url })} is disabled (${disabled_why}).`,
        hint: 'See service webhook deliveries. Then: service webhook edit WEBHOOK --status active.',
        details: { webhookId: id },
      }),
    ),
  ]
}

/** Joins a statement and its reason, which may be a sentence already. */
const sentence = (statement: string, reason: string | null) =>
  reason ? `${statement}: ${reason.replace(/\.$/, '')}.` : `${statement}.`
