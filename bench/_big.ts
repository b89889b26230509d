import path from 'node:path'
import { mkdirSync, rmSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { v7 as uuid } from 'uuid'
import { seed } from './seed.ts'
import { openDatabase } from '../src/platform/database/open.ts'
const dir = process.argv[2]!
rmSync(dir, { recursive: true, force: true }); mkdirSync(dir, { recursive: true })
const { companyId, issueIds } = seed(dir, Number(process.argv[3]))
const db = openDatabase(path.join(dir, 'service.db'), { backupDir: dir, now: new Date() })
const now = Date.now()
db.transaction(() => {
  const ids = Array.from({ length: 10_000 }, () => uuid())
  const a = db.prepare(`insert into agent (id, company_id, name, url_key, role, adapter_type, created_at, updated_at, reports_to) values (?,?,?,?,'engineer','process',?,?,?)`)
  const at = new Date(now - 14 * 86400e3).toISOString()
  ids.forEach((id, i) => a.run(id, companyId, `Agent ${i}`, `agent-${i}`, at, at, i === 0 ? null : ids[Math.floor((i - 1) / 8)]))
  const rt = db.prepare(`insert into run_total (company_id, day, agent_id, status, n, idle, idle_micros) values (?,?,?,?,?,?,?)`)
  const ct = db.prepare(`insert or ignore into cost_total (company_id, kind, key, period, events, unpriced, input_tokens, cached_input_tokens, output_tokens, cost_micros) values (?,?,?,?,24,0,1000,0,10,24000)`)
  for (let d = 13; d > 0; d--) {
    const day = new Date(now - d * 86400e3).toISOString().slice(0, 10)
    for (const id of ids) {
      rt.run(companyId, day, id, 'starting', 0, 0, 0); rt.run(companyId, day, id, 'running', 0, 0, 0); rt.run(companyId, day, id, 'succeeded', 24, 12, 12000)
      ct.run(companyId, 'agent', id, day); ct.run(companyId, 'agent', id, day.slice(0, 7))
    }
    for (let i = 0; i < 20000; i++) ct.run(companyId, 'issue', issueIds[(d * 20000 + i) % issueIds.length], day)
    ct.run(companyId, 'company', '', day); ct.run(companyId, 'company', '', day.slice(0, 7))
  }
})()
db.close()
console.log(companyId)
