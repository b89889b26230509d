import type { RawBuilder } from 'kysely'
import { listActivityAfter } from '../../access/activity/queries.ts'
import { hashActivity } from '../../access/activity/record.ts'
import { checkSecrets } from '../../access/secret/check.ts'
import type { Context } from '../../platform/context.ts'
import type { Db } from '../../platform/database/db.ts'
import type { ReadJob } from '../../platform/database/reader.ts'
import { raw, sql } from '../../platform/database/sql.ts'
import type { Vault } from '../../platform/vault.ts'

/** An inconsistency in the database. */
export interface Finding {
  check: CheckName
  /** A sentence that names the inconsistency and its place. */
  message: string
}

/** The newest activity of a company. A copy outside the database can later prove that no later activity was removed. */
export interface ActivityHead {
  companyId: string
  companyName: string
  entries: number
  hash: string
}

export interface CheckOptions {
  only?: readonly CheckName[] | undefined
  noted?: string | undefined
}

export interface CheckResult {
  ok: boolean
  /** The checks that ran. */
  checks: readonly CheckName[]
  /** At most 100 for each check. */
  findings: Finding[]
  activityHeads: ActivityHead[]
}

export const CHECKS = [
  'integrity',
  'foreign_keys',
  'issue_search',
  'comment_search',
  'cost_totals',
  'issue_counts',
  'run_totals',
  'secrets',
  'activity_chain',
] as const
export type CheckName = (typeof CHECKS)[number]

/** The limit of findings for each check. */
const MAX_FINDINGS = 100

/** The number of activities to read at a time. */
const PAGE = 2_000

/** A check that is about to run. */
export interface CheckProgress {
  check: CheckName
  /** The number of the check, starting at 1. */
  step: number
  steps: number
}

export interface CheckRequest extends CheckOptions {
  onProgress?: ((progress: CheckProgress) => void) | undefined
}

/** Checks the database of a server in a separate thread; see `deepCheck`. */
export async function checkDatabase(ctx: Context, { onProgress, ...options }: CheckRequest = {}): Promise<CheckResult> {
  const onReport = onProgress && ((progress: unknown) => onProgress(progress as CheckProgress))
  const result = await ctx.reader.runLong(checkDatabaseJob, options, onReport)
  return withSecrets(result, ctx, options)
}

/** Runs all checks except that of the secrets, whose key stays in the main thread. */
export const checkDatabaseJob: ReadJob<CheckOptions, CheckResult> = { name: 'database.check', run: runChecks }

/**
 * Recomputes every stored total and search index, and verifies that no activity
 * was altered or removed. It changes no data. Each check reads one snapshot. The
 * time is proportional to the number of rows.
 *
 * @param options.only the checks to run; all by default
 * @param options.noted a hash of an earlier activity head that must still exist
 */
export function deepCheck(
  { db, vault }: { db: Db; vault: Vault },
  { onProgress = () => {}, ...options }: CheckRequest = {},
): CheckResult {
  return withSecrets(runChecks(db, options, onProgress), { db, vault }, options)
}

function runChecks(
  db: Db,
  { only = CHECKS, noted }: CheckOptions,
  report: (progress: CheckProgress) => void,
): CheckResult {
  const findings: Finding[] = []
  let activityHeads: ActivityHead[] = []
  const names = CHECKS.filter((name) => only.includes(name))
  for (const [i, check] of names.entries()) {
    report({ check, step: i + 1, steps: names.length })
    if (check === 'secrets') continue
    const messages: string[] = []
    if (check === 'activity_chain') activityHeads = checkChains(db, messages, noted)
    else messages.push(...PARTS[check](db))
    db.endReads()
    findings.push(...toFindings(check, messages))
  }
  return { ok: findings.length === 0, checks: only, findings, activityHeads }
}

function withSecrets(
  result: CheckResult,
  { db, vault }: { db: Db; vault: Vault },
  { only = CHECKS }: CheckOptions,
): CheckResult {
  if (!only.includes('secrets')) return result
  const findings = [...result.findings, ...toFindings('secrets', checkSecrets(db, vault))]
  findings.sort((a, b) => CHECKS.indexOf(a.check) - CHECKS.indexOf(b.check))
  return { ...result, ok: findings.length === 0, findings }
}

const toFindings = (check: CheckName, messages: readonly string[]): Finding[] =>
  messages.slice(0, MAX_FINDINGS).map((message) => ({ check, message }))

const PARTS: Record<Exclude<CheckName, 'activity_chain' | 'secrets'>, (db: Db) => string[]> = {
  integrity: (db) =>
    db
      .all(raw<{ integrity_check: string }>`pragma integrity_check(100)`.compile(sql))
      .map((row) => row.integrity_check)
      .filter((line) => line !== 'ok'),
  foreign_keys: (db) =>
    db
      .all(raw<{ table: string; rowid: number; parent: string }>`pragma foreign_key_check`.compile(sql))
      .map((row) => `${row.table} row ${row.rowid ?? '?'} refers to a ${row.parent} that does not exist.`),
  issue_search: (db) => checkText(db, 'issue_text', 'issue', 'title, identifier, description'),
  comment_search: (db) => checkText(db, 'comment_text', 'comment', 'body'),
  cost_totals: checkCosts,
  issue_counts: checkIssues,
  run_totals: checkRuns,
}

/**
 * Compares a search index with the indexed rows: rebuilds the index in a
 * temporary table and compares each occurrence of each word. The check command
 * of FTS5 itself writes, which a read-only connection does not allow.
 */
function checkText(
  db: Db,
  index: 'issue_text' | 'comment_text',
  table: 'issue' | 'comment',
  columns: string,
): string[] {
  const run = (text: string) => db.run(raw`${raw.raw(text)}`.compile(sql))
  const broken = `The search index ${index} differs from the table ${table}. To repair it, run \`insert into ${index}(${index}) values('rebuild')\`.`
  // A connection with `query_only` refuses temporary tables too.
  const { query_only } = db.all(raw<{ query_only: number }>`pragma query_only`.compile(sql))[0]!
  db.endReads()
  run('pragma query_only = off')
  try {
    run(
      `create virtual table temp.rebuilt using fts5(${columns}, content = '', tokenize = 'unicode61 remove_diacritics 2')`,
    )
    run(`insert into temp.rebuilt (rowid, ${columns}) select -seq, ${columns} from main.${table}`)
    run("create virtual table temp.rebuilt_words using fts5vocab('temp', 'rebuilt', 'instance')")
    run(`create virtual table temp.stored_words using fts5vocab('main', '${index}', 'instance')`)
    const differences = db.all(
      raw`select 1 from (
        select term, doc, col, offset from temp.stored_words union all select term, doc, col, offset from temp.rebuilt_words
      ) group by term, doc, col, offset having count(*) <> 2 limit 1`.compile(sql),
    )
    const internal = db.all(raw<{ integrity_check: string }>`pragma integrity_check(${raw.lit(index)})`.compile(sql))
    return differences.length > 0 || internal.some((row) => row.integrity_check !== 'ok') ? [broken] : []
  } catch (error) {
    if (!String((error as { code?: string }).code).startsWith('SQLITE_CORRUPT')) throw error
    return [broken]
  } finally {
    db.endReads()
    for (const name of ['stored_words', 'rebuilt_words', 'rebuilt']) run(`drop table if exists temp.${name}`)
    run(`pragma query_only = ${query_only}`)
  }
}

/**
 * Lists the differences between stored and recomputed totals. It groups a union
 * instead of a full join, which SQLite would execute as nested loops.
 */
const differences = (db: Db, stored: RawBuilder<unknown>, counted: RawBuilder<unknown>): Difference[] =>
  db.all(
    raw<Difference>`select what, max(stored) as stored, max(counted) as counted from (
      select what, figures as stored, null as counted from (${stored})
      union all select what, null, figures from (${counted})
    ) group by what having max(stored) is not max(counted) limit ${MAX_FINDINGS}`.compile(sql),
  )

interface Difference {
  what: string
  stored: string | null
  counted: string | null
}

const toMessages = (rows: readonly Difference[], of: string) =>
  rows.map(
    (row) =>
      `${of} ${row.what}: the total is ${row.stored ?? 'missing'}, the rows add up to ${row.counted ?? 'nothing'}.`,
  )

/** Compares the cost totals with the cost events. */
function checkCosts(db: Db): string[] {
  const what = raw`company_id || ' ' || kind || ' ' || key || ' ' || period as what`
  const figures = raw`events || ' events, ' || unpriced || ' unpriced, ' || input_tokens || '/' || cached_input_tokens || '/' || output_tokens || ' tokens, ' || cost_micros || ' micro-dollars' as figures`
  const counted = raw`select ${what}, ${figures} from (
    select company_id, kind, key, period, count(*) as events, sum(cost_status = 'unpriced') as unpriced,
      sum(input_tokens) as input_tokens, sum(cached_input_tokens) as cached_input_tokens,
      sum(output_tokens) as output_tokens, sum(cost_micros) as cost_micros
    from (
      select event.*, kinds.value as kind, substr(event.occurred_at, 1, lengths.length) as period,
        case kinds.value when 'company' then '' when 'agent' then coalesce(agent_id, '')
          when 'project' then coalesce(project_id, '') when 'issue' then coalesce(issue_id, '')
          else provider || '/' || model end as key
      from cost_event as event
        cross join json_each('["company", "agent", "project", "issue", "model"]') as kinds
        cross join (select 10 as length union all select 7) as lengths)
    group by company_id, kind, key, period)`
  return toMessages(differences(db, raw`select ${what}, ${figures} from cost_total`, counted), 'Costs of')
}

/** Compares the issue counts with the issues. A row with the count 0 is equivalent to no row. */
function checkIssues(db: Db): string[] {
  const what = raw`company_id || ' ' || status as what`
  const stored = raw`select ${what}, cast(n as text) as figures from issue_count where n <> 0`
  const counted = raw`select ${what}, cast(count(*) as text) as figures from issue group by company_id, status`
  return toMessages(differences(db, stored, counted), 'Issues of')
}

/** Compares the run totals with the runs, and their sums by company with them. A row of zeros is equivalent to no row. */
function checkRuns(db: Db): string[] {
  const isNotZero = raw`(n <> 0 or idle <> 0 or idle_micros <> 0)`
  const ofCompany = raw`company_id || ' ' || day || ' ' || adapter_type || ' ' || status as what`
  const what = raw`agent_id || ' ' || day || ' ' || adapter_type || ' ' || status as what`
  const figures = raw`n || ' runs, ' || idle || ' idle for ' || idle_micros || ' micro-dollars' as figures`
  const stored = raw`select ${what}, ${figures} from run_total where ${isNotZero}`
  const counted = raw`select ${what}, ${figures} from (
    select substr(created_at, 1, 10) as day, agent_id, adapter_type, status, count(*) as n, coalesce(sum(idle), 0) as idle,
      coalesce(sum(case idle when 1 then (select sum(cost_micros) from cost_event where run_id = run.id) end), 0) as idle_micros
    from run group by 1, 2, 3, 4)`
  const storedSums = raw`select ${ofCompany}, ${figures} from company_run_total where ${isNotZero}`
  const sums = raw`select ${ofCompany}, ${figures} from (
    select company_id, day, adapter_type, status, sum(n) as n, sum(idle) as idle, sum(idle_micros) as idle_micros
    from run_total group by company_id, day, adapter_type, status) where ${isNotZero}`
  return [
    ...toMessages(differences(db, stored, counted), 'Runs of'),
    ...toMessages(differences(db, storedSums, sums), 'Runs of'),
  ]
}

/** Verifies the hash chain of each company's activity from its first entry: each entry contains the hash of the previous one. */
function checkChains(db: Db, messages: string[], noted: string | undefined): ActivityHead[] {
  let isNotedThere = noted === undefined
  const report = (message: string) => {
    if (messages.length < MAX_FINDINGS) messages.push(message)
  }
  const heads: ActivityHead[] = []
  for (const { id, name } of db.all(sql.selectFrom('company').select(['id', 'name']).orderBy('id'))) {
    const head = { companyId: id, companyName: name, entries: 0, hash: '' }
    for (let after = 0; ; ) {
      const page = listActivityAfter(db, { companyId: id, after, limit: PAGE })
      for (const row of page) {
        if (row.previous_hash !== head.hash) {
          report(`Activity before ${row.id} of ${name} was removed or altered (at ${row.created_at}).`)
        }
        if (hashActivity(row) !== row.hash) {
          report(`Activity ${row.id} of ${name} was altered (${row.action} at ${row.created_at}).`)
        }
        head.hash = row.hash
        head.entries++
        isNotedThere ||= row.hash === noted
      }
      if (page.length < PAGE) break
      after = page.at(-1)!.seq
    }
    heads.push(head)
  }
  if (!isNotedThere)
    messages.unshift(`No activity has the hash ${noted}: it was altered or removed after the hash was noted.`)
  return heads
}
