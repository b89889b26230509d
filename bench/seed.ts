import path from 'node:path'
import type { Database } from 'better-sqlite3'
import { v7 as uuid } from 'uuid'
import { createTextMerger } from '../src/platform/database/merge-text.ts'
import { openDatabase } from '../src/platform/database/open.ts'
import { createTextIndexer } from '../src/platform/database/text-index.ts'

export interface Seeded {
  companyId: string
  agentId: string
  issueIds: string[]
}

const SYLLABLES = ['ka', 'lo', 'mi', 'ter', 'von', 'sel', 'dra', 'pu', 'nis', 'gor', 'bel', 'tah']

/** Returns one of 1,728 artificial words. Low numbers are the common words. */
export const wordAt = (n: number) => [0, 1, 2].map((i) => SYLLABLES[Math.floor(n / 12 ** i) % 12]).join('')

/** Returns words whose frequency decreases with their number. The same `seed` returns the same words. */
const wordsOf = (seed: number, count: number) =>
  Array.from({ length: count }, (_, i) =>
    wordAt(Math.floor(1_728 * (((seed * 7_919 + i * 104_729) % 9_973) / 9_973) ** 3)),
  )

/** Creates a database with one company, one agent and a number of free issues, each with a comment and an activity. */
export function seed(dataDir: string, issues: number): Seeded {
  const sqlite = openDatabase(path.join(dataDir, 'service.db'), { backupDir: dataDir, now: new Date() })
  const at = new Date().toISOString()
  const [companyId, agentId] = [uuid(), uuid()]
  const issueIds = Array.from({ length: issues }, () => uuid())
  const columns = (names: string) => `(${names}) values (${names.replace(/\w+/g, '@$&')})`
  const insert = (table: string, names: string) => sqlite.prepare(`insert into ${table} ${columns(names)}`)
  const addIssue = insert(
    'issue',
    'id, company_id, issue_number, identifier, title, description, status, created_at, updated_at',
  )
  const addComment = insert(
    'comment',
    'id, company_id, issue_seq, author_type, author_user_id, body, created_at, updated_at',
  )
  const addActivity = insert(
    'activity',
    'id, company_id, actor_type, actor_id, action, entity_type, entity_id, details, created_at, previous_hash, hash',
  )
  const made = { company_id: companyId, created_at: at, updated_at: at }
  sqlite.transaction(() => {
    insert('company', 'id, name, issue_prefix, issue_counter, created_at, updated_at').run({
      ...made,
      id: companyId,
      name: 'Acme',
      issue_prefix: 'ACM',
      issue_counter: issues,
    })
    insert('agent', 'id, company_id, name, url_key, role, runtime_config, adapter_type, created_at, updated_at').run({
      ...made,
      id: agentId,
      name: 'Ada',
      url_key: 'ada',
      role: 'engineer',
      // Only the requests are measured: they must not start a run.
      runtime_config: JSON.stringify({ heartbeat: { wakeOnDemand: false } }),
      adapter_type: 'process',
    })
    for (const [i, id] of issueIds.entries()) {
      const { lastInsertRowid: issue_seq } = addIssue.run({
        ...made,
        id,
        issue_number: i + 1,
        identifier: `ACM-${i + 1}`,
        title: `Issue number ${i + 1} ${wordsOf(i, 3).join(' ')}`,
        description: `What is to be done, in a sentence or two: ${wordsOf(i + 1, 12).join(' ')}.`,
        status: 'todo',
      })
      const author = { author_type: 'user', author_user_id: 'local-board' }
      addComment.run({ ...made, ...author, id: uuid(), issue_seq, body: `Found: ${wordsOf(i + 2, 12).join(' ')}.` })
      addActivity.run({
        ...made,
        id: uuid(),
        actor_type: 'user',
        actor_id: 'local-board',
        action: 'issue.created',
        entity_type: 'issue',
        entity_id: id,
        details: JSON.stringify({ title: `Issue number ${i + 1}` }),
        previous_hash: 'none',
        hash: 'none',
      })
    }
    createTextIndexer(sqlite).indexAll()
  })()
  mergeText(sqlite)
  sqlite.close()
  return { companyId, agentId, issueIds }
}

/** Leaves the text indexes as a server does after a quiet second. */
export function mergeText(sqlite: Database): void {
  const step = createTextMerger(sqlite)
  while (step());
}
