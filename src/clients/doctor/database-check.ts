import { setImmediate as breathe } from 'node:timers/promises'
import { hashActivity } from '../../access/activity/record.ts'
import { checkSecrets } from '../../access/secret/check.ts'
import type { Db } from '../../platform/database/db.ts'
import { prepared, raw, sql } from '../../platform/database/sql.ts'
import type { Vault } from '../../platform/vault.ts'

/** Something in the database that is not as it must be. */
export interface Finding {
  check: CheckName
  /** A sentence that says what is wrong and where. */
  message: string
}

/** The newest activity of a company. Noted elsewhere, it proves later that nothing was cut off at the end. */
export interface ActivityHead {
  companyId: string
  entries: number
  hash: string
}

export interface CheckOptions {
  only?: readonly CheckName[] | undefined
  noted?: string | undefined
}

export interface CheckResult {
  ok: boolean
  /** What was looked at. */
  checks: readonly CheckName[]
  /** At most 100 of each check. */
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

/** How many findings of one check are named. */
const NAMED = 100

/** How many activities are read at a time. */
const PAGE = 2_000

/**
 * Recomputes what the database keeps twice, and proves that none of the
 * activity was altered or removed. Changes nothing. Between its parts it lets
 * other work through, so a busy server can be checked; each part sees one
 * moment. Takes seconds where there are hundreds of thousands of rows.
 *
 * @param options.only some of the checks; all by default
 * @param options.noted a hash of an earlier activity head that must still be there
 */
export async function deepCheck(
  { db, vault }: { db: Db; vault: Vault },
  { only = CHECKS, noted }: CheckOptions = {},
): Promise<CheckResult> {
  const findings: Finding[] = []
  let activityHeads: ActivityHead[] = []
  for (const check of CHECKS.filter((name) => only.includes(name))) {
    await breathe()
    const messages: string[] = []
    if (check === 'activity_chain') activityHeads = await checkChains(db, messages, noted)
    else messages.push(...PARTS[check](db, vault))
    findings.push(...messages.slice(0, NAMED).map((message) => ({ check, message })))
  }
  return { ok: findings.length === 0, checks: only, findings, activityHeads }
}

const PARTS: Record<Exclude<CheckName, 'activity_chain'>, (db: Db, vault: Vault) => string[]> = {
  integrity: (db) =>
    db
      .all(raw<{ integrity_check: string }>`pragma integrity_check(100)`.compile(sql))
      .map((row) => row.integrity_check)
      .filter((line) => line !== 'ok'),
  foreign_keys: (db) =>
    db
      .all(raw<{ table: string; rowid: number; parent: string }>`pragma foreign_key_check`.compile(sql))
      .map((row) => `${row.table} row ${row.rowid ?? '?'} refers to a ${row.parent} that does not exist.`),
  issue_search: (db) => checkText(db, 'issue_text'),
  comment_search: (db) => checkText(db, 'comment_text'),
  cost_totals: checkCosts,
  issue_counts: checkIssues,
  run_totals: checkRuns,
  secrets: checkSecrets,
}

/** Has FTS5 compare an index with the table that it is of; it throws where they differ. */
function checkText(db: Db, table: 'issue_text' | 'comment_text'): string[] {
  try {
    db.run(raw`insert into ${raw.table(table)} (${raw.ref(table)}, rank) values ('integrity-check', 1)`.compile(sql))
    return []
  } catch (error) {
    if (!String((error as { code?: string }).code).startsWith('SQLITE_CORRUPT')) throw error
    return [
      `The search index ${table} is not what its table says. \`insert into ${table}(${table}) values('rebuild')\` mends it.`,
    ]
  }
}

interface Kept {
  what: string
  kept: string | null
  counted: string | null
}

const told = (rows: readonly Kept[], of: string) =>
  rows.map((row) => `${of} ${row.what}: ${row.kept ?? 'nothing'} is kept, ${row.counted ?? 'nothing'} is counted.`)

/** Rows with zeros are as good as none: those that a change left behind. */
function checkCosts(db: Db): string[] {
  const figures = raw`events || ' events, ' || unpriced || ' unpriced, ' || input_tokens || '/' || cached_input_tokens || '/' || output_tokens || ' tokens, ' || cost_micros || ' micro-dollars'`
  return told(
    db.all(
      raw<Kept>`with counted as (
        select company_id, kind, key, period, count(*) as events, sum(cost_status = 'unpriced') as unpriced,
          sum(input_tokens) as input_tokens, sum(cached_input_tokens) as cached_input_tokens,
          sum(output_tokens) as output_tokens, sum(cost_micros) as cost_micros
        from (
          select event.*, kinds.value as kind, periods.value as period,
            case kinds.value when 'company' then '' when 'agent' then coalesce(agent_id, '')
              when 'project' then coalesce(project_id, '') when 'issue' then coalesce(issue_id, '')
              else provider || '/' || model end as key
          from cost_event as event
            cross join json_each('["company", "agent", "project", "issue", "model"]') as kinds
            cross join (select 10 as length union all select 7) as lengths
            cross join json_each(json_array(substr(event.occurred_at, 1, lengths.length))) as periods)
        group by company_id, kind, key, period),
      kept_figures as (select company_id, kind, key, period, ${figures} as figures from cost_total),
      counted_figures as (select company_id, kind, key, period, ${figures} as figures from counted)
      select coalesce(k.company_id, c.company_id) || ' ' || coalesce(k.kind, c.kind) || ' ' || coalesce(k.key, c.key)
          || ' ' || coalesce(k.period, c.period) as what,
        k.figures as kept, c.figures as counted
      from kept_figures as k full join counted_figures as c using (company_id, kind, key, period)
      where k.figures is not c.figures limit ${NAMED}`.compile(sql),
    ),
    'Costs of',
  )
}

function checkIssues(db: Db): string[] {
  return told(
    db.all(
      raw<Kept>`select coalesce(k.company_id, c.company_id) || ' ' || coalesce(k.status, c.status) as what, k.n as kept, c.n as counted
      from (select company_id, status, n from issue_count where n <> 0) as k
        full join (select company_id, status, count(*) as n from issue group by company_id, status) as c using (company_id, status)
      where k.n is not c.n limit ${NAMED}`.compile(sql),
    ),
    'Issues of',
  )
}

function checkRuns(db: Db): string[] {
  const figures = raw`n || ' runs, ' || idle || ' idle for ' || idle_micros || ' micro-dollars'`
  return told(
    db.all(
      raw<Kept>`with counted as (
        select company_id, substr(created_at, 1, 10) as day, agent_id, status, count(*) as n,
          coalesce(sum(idle), 0) as idle,
          coalesce(sum(case idle when 1 then (select sum(cost_micros) from cost_event where run_id = run.id) end), 0) as idle_micros
        from run group by 1, 2, 3, 4),
      kept_figures as (
        select company_id, day, agent_id, status, ${figures} as figures from run_total
        where n <> 0 or idle <> 0 or idle_micros <> 0),
      counted_figures as (select company_id, day, agent_id, status, ${figures} as figures from counted)
      select coalesce(k.agent_id, c.agent_id) || ' ' || coalesce(k.day, c.day) || ' ' || coalesce(k.status, c.status) as what,
        k.figures as kept, c.figures as counted
      from kept_figures as k full join counted_figures as c using (company_id, day, agent_id, status)
      where k.figures is not c.figures limit ${NAMED}`.compile(sql),
    ),
    'Runs of',
  )
}

const chain = prepared((of: { companyId: string; after: number; limit: number }) =>
  sql
    .selectFrom('activity')
    .selectAll()
    .where('company_id', '=', of.companyId)
    .where('seq', '>', of.after)
    .orderBy('seq')
    .limit(of.limit),
)

/** Follows each company's activity from its first entry on: each carries the hash of the one before. */
async function checkChains(db: Db, messages: string[], noted: string | undefined): Promise<ActivityHead[]> {
  let isNotedThere = noted === undefined
  const heads: ActivityHead[] = []
  for (const { id } of db.all(sql.selectFrom('company').select('id').orderBy('id'))) {
    const head = { companyId: id, entries: 0, hash: '' }
    for (let after = 0; ; ) {
      const page = db.all(chain({ companyId: id, after, limit: PAGE }))
      for (const row of page) {
        if (row.previous_hash !== head.hash) {
          messages.push(`Activity before ${row.id} of company ${id} was removed or altered (at ${row.created_at}).`)
        }
        if (hashActivity(row) !== row.hash) {
          messages.push(`Activity ${row.id} of company ${id} was altered (${row.action} at ${row.created_at}).`)
        }
        head.hash = row.hash
        head.entries++
        isNotedThere ||= row.hash === noted
      }
      if (page.length < PAGE) break
      after = page.at(-1)!.seq
      await breathe()
    }
    heads.push(head)
  }
  if (!isNotedThere)
    messages.push(`No entry has the hash ${noted}: what was there when it was noted was cut off or altered.`)
  return heads
}
