import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { createTestRuns } from '../../runs.ts'

/** The code that only runs in placements need, and the programs that it starts. */
const OF_PLACEMENTS =
  /runtime\/placement\/(remote-runs|places|followed-run|ssh|ssh-connection|slurm|kubernetes\S*|exec|run-socket|remote-program)\.ts|@kubernetes/

test('the server loads no code of the engines at its start', () => {
  const loaded = new Set<string>()
  const load = (file: string) => {
    if (loaded.has(file)) return
    loaded.add(file)
    if (!existsSync(file)) return
    // Type imports are erased, and import() loads a module later.
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(IMPORTS)) {
      load(name.startsWith('.') ? path.resolve(path.dirname(file), name) : name)
    }
  }
  load(path.resolve(import.meta.dirname, '../../../src/main.ts'))
  load(path.resolve(import.meta.dirname, '../../../src/server.ts'))
  const names = [...loaded]
  assert.ok(names.some((name) => name.endsWith('runtime/placement/routes.ts')))
  assert.deepEqual(
    names.filter((name) => OF_PLACEMENTS.test(name)),
    [],
  )
})

const IMPORTS = /^(?:import|export) (?!type )(?:[^'"]*? from )?'([^']+)'/gm

test('without placements, no tick and no run queries them', async (t) => {
  const { agentThat, ctx, make, runs, runUntilIdle, clock } = await createTestRuns(t, { selfCheck: false })
  const agentId = await agentThat('succeed.js', { heartbeat: { enabled: true, intervalSec: 60 } })
  clock.move(60_000)
  await runUntilIdle()

  const statements: string[] = []
  for (const method of ['all', 'first', 'run', 'insert'] as const) {
    const original = ctx.db[method] as (query: never) => never
    ctx.db[method] = ((query: { sql?: string; compile?: () => { sql: string } }) => {
      statements.push(query.sql ?? query.compile!().sql)
      return original(query as never)
    }) as never
  }
  await make('POST', `/api/agents/${agentId}/heartbeat/invoke`, {})
  await runUntilIdle()
  clock.move(60_000)
  await runUntilIdle()
  assert.deepEqual(
    (await runs()).map(({ status }) => status),
    ['succeeded', 'succeeded', 'succeeded'],
  )
  assert.ok(statements.some((statement) => /insert into "run"/.test(statement)))
  const about = statements.filter((statement) =>
    /(from|join|into|update) "?placement"?|\$\.placement|project\.placement/.test(statement),
  )
  assert.deepEqual(about, [])
})
