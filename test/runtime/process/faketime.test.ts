import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '../../../src/clients/connection/client.ts'
import { packageRoot } from '../../../src/platform/package-root.ts'
import { environment } from '../../clients/cli/service.ts'
import { createTestFolder } from '../../helpers.ts'
import { agentProgram } from './runs.ts'

/** The path from the environment variable, or the Debian path for the architecture. */
const LIBRARY = [process.env.FAKETIME_LIBRARY ?? '', ...globSync('/usr/lib/*/faketime/libfaketime.so.1')].find(
  existsSync,
)

const skip = LIBRARY
  ? false
  : 'NOT TESTED: the clock is not really set, because libfaketime is missing (apt-get install libfaketime, or FAKETIME_LIBRARY)'

const INTERVAL_SEC = 3

/** Starts a real server with a clock that the test sets, and with one agent that has a timer. */
async function arrange(t: TestContext) {
  const { folder: dataDir, canaries, closing } = createTestFolder(t)
  const clock = path.join(dataDir, 'clock')
  const set = (hours: number) => writeFileSync(clock, `${hours < 0 ? '' : '+'}${hours * 3_600}\n`)
  set(0)
  const args = [path.join(packageRoot(), 'src/main.ts'), 'start', '--json', '--port', '0', '--data-dir', dataDir]
  const env = environment({
    LD_PRELOAD: LIBRARY!,
    FAKETIME_TIMESTAMP_FILE: clock,
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  })
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  closing.push(
    () => canaries.searchFolder(dataDir),
    async () => {
      if (child.exitCode !== null) return
      child.kill('SIGINT')
      await once(child, 'exit')
    },
  )
  const [line] = await once(child.stdout, 'data')
  const api = createClient(JSON.parse(String(line)))
  const company = await api.request('POST /api/companies', { body: { name: 'Acme' } })
  await api.request('POST /api/companies/:companyId/agents', {
    params: { companyId: company.id },
    body: {
      name: 'Ada',
      adapterType: 'process',
      adapterConfig: { command: process.execPath, args: [agentProgram('succeed')] },
      runtimeConfig: { heartbeat: { enabled: true, intervalSec: INTERVAL_SEC } },
    },
  })
  const runs = async (): Promise<{ createdAt: string }[]> =>
    api.request('GET /api/companies/:companyId/runs', { params: { companyId: company.id } })
  const more = async (than: number) => {
    for (const deadline = performance.now() + 45_000; ; await delay(200)) {
      const all = await runs()
      if (all.length > than) return all
      assert.ok(performance.now() < deadline, `no run after ${than} within 45 s`)
    }
  }
  return { set, runs, more }
}

test('a server continues its runs if the system clock is set', { skip, concurrency: true }, async (t) => {
  const back = t.test('a server continues to run its agents after the system clock is set back one hour', async (t) => {
    const { set, runs, more } = await arrange(t)
    const [before] = await more(0)
    set(-1)
    const count = (await runs()).length
    await more(count)
    const [after] = await more(count + 1)
    assert.ok(after!.createdAt < before!.createdAt, 'the clock was set')
  })

  const ahead = t.test(
    'a server starts one run for all missed ticks after the system clock jumps eight hours ahead',
    async (t) => {
      const { set, more } = await arrange(t)
      const count = (await more(0)).length
      set(8)
      const began = performance.now()
      const all = await more(count + 2)
      const onTime = (performance.now() - began) / (INTERVAL_SEC * 1_000)
      assert.ok(all.length - count <= onTime + 3, `${all.length - count} runs`)
    },
  )
  await Promise.all([back, ahead])
})
