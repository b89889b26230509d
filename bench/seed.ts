import path from 'node:path'
import { v7 as uuid } from 'uuid'
import { createDb } from '../src/platform/database/db.ts'
import { openDatabase } from '../src/platform/database/open.ts'
import { sql } from '../src/platform/database/sql.ts'

export interface Seeded {
  companyId: string
  agentId: string
  issueIds: string[]
}

/** Makes a database with one company, one agent and so many free issues. */
export function seed(dataDir: string, issues: number): Seeded {
  const sqlite = openDatabase(path.join(dataDir, 'service.db'), { backupDir: dataDir, now: new Date() })
  const db = createDb(sqlite)
  const at = new Date().toISOString()
  const [companyId, agentId] = [uuid(), uuid()]
  const times = { created_at: at, updated_at: at }
  const issueIds = Array.from({ length: issues }, () => uuid())
  sqlite.transaction(() => {
    db.run(
      sql
        .insertInto('company')
        .values({ id: companyId, name: 'Acme', issue_prefix: 'ACM', issue_counter: issues, ...times }),
    )
    const agent = { id: agentId, company_id: companyId, name: 'Ada', url_key: 'ada', role: 'engineer' }
    // Nothing but the requests is to be measured: no run may start from them.
    const runtime_config = JSON.stringify({ heartbeat: { wakeOnDemand: false } })
    db.run(sql.insertInto('agent').values({ ...agent, runtime_config, adapter_type: 'process', ...times }))
    for (const [i, id] of issueIds.entries()) {
      db.run(
        sql.insertInto('issue').values({
          id,
          company_id: companyId,
          issue_number: i + 1,
          identifier: `ACM-${i + 1}`,
          title: `Issue number ${i + 1}`,
          description: 'What is to be done, in a sentence or two, as issues have it.',
          status: 'todo',
          ...times,
        }),
      )
    }
  })()
  sqlite.close()
  return { companyId, agentId, issueIds }
}
