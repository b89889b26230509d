/**
 * Ends runs and immediately sends requests with their tokens: `node test/chaos/tokens.ts [runs=1000]`.
 * Each token must be valid while its run is live, and refused on the first request
 * after the write that ended it. Prints the counts, and exits with 1 after a failure.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { v7 as uuid } from 'uuid'
import { cookieNames } from '../../src/access/auth/cookies.ts'
import { createSignIn } from '../../src/access/auth/sign-in.ts'
import { createApp } from '../../src/app.ts'
import { createClient } from '../../src/clients/connection/client.ts'
import { listen } from '../../src/http/listener.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { readConfig } from '../../src/platform/config.ts'
import { createContext } from '../../src/platform/context.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { sql } from '../../src/platform/database/sql.ts'
import { createLog } from '../../src/platform/log.ts'
import { createVault } from '../../src/platform/vault.ts'
import { NO_FACTS } from '../../src/runtime/executor/facts.ts'
import { finishRun } from '../../src/runtime/executor/finish.ts'
import { createRunTokens } from '../../src/runtime/executor/run-token.ts'
import { insertAgent, insertRun } from '../arrange.ts'

/** @returns the number of tokens that were valid before the end of their run, and that were refused immediately after it */
export async function endRuns(count: number): Promise<{ accepted: number; refused: number }> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'service-chaos-'))
  // The scheduler is not started: it would end these runs, because they have no process.
  const config = readConfig({ dataDir, port: '0' }, {})
  const sqlite = openDatabase(path.join(dataDir, 'service.db'), { backupDir: dataDir, now: new Date() })
  const tokens = createRunTokens(randomBytes(32))
  const context = createContext({
    sqlite,
    clock: systemClock,
    config,
    log: createLog(() => {}),
    vault: createVault(randomBytes(32)),
  })
  const ctx = Object.assign(context, { signIn: createSignIn(config, cookieNames(config, context.vault)), tokens })
  const listener = await listen({ ...config, log: context.log })
  listener.serve(createApp(ctx, tokens).handle)
  const url = `http://127.0.0.1:${listener.port}`
  const companyId = uuid()
  const times = { created_at: ctx.now, updated_at: ctx.now }
  ctx.db.run(sql.insertInto('company').values({ id: companyId, name: 'Chaos', issue_prefix: 'CHA', ...times }))
  let [accepted, refused] = [0, 0]
  const one = async () => {
    const app = { ctx, as: () => async () => Promise.reject(new Error('not asked here')) }
    const agent = insertAgent(app, { company_id: companyId, name: randomBytes(4).toString('hex') })
    const { id } = await insertRun(app, agent)
    const token = await tokens.sign({ id, agentId: agent.id, companyId })
    const request = async () => createClient({ url, token }).send({ method: 'GET', path: '/api/agents/me' })
    if ((await request()).status === 200) accepted++
    const ending = { reason: 'exited', exitCode: 0, signal: null, error: null, at: null } as const
    await ctx.write(() => finishRun(ctx, id, ending, NO_FACTS))
    const response = await request()
    if (response.status === 401 && JSON.parse(response.text).code === 'run_ended') refused++
  }
  try {
    for (let done = 0; done < count; done += 20) {
      await Promise.all(Array.from({ length: Math.min(20, count - done) }, one))
    }
  } finally {
    await listener.close()
    await ctx.reader.close()
    sqlite.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
  return { accepted, refused }
}

if (import.meta.main) {
  const [count = 1_000] = process.argv.slice(2).map(Number)
  const { accepted, refused } = await endRuns(count)
  process.stdout.write(`${accepted} of ${count} tokens worked while their run lived\n`)
  process.stdout.write(`${refused} of ${count} were refused on the first request after its end\n`)
  process.exitCode = accepted === count && refused === count ? 0 : 1
}
