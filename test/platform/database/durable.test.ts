import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { packageRoot } from '../../../src/platform/package-root.ts'
import { temporaryFolder } from '../../helpers.ts'

const hasStrace = spawnSync('strace', ['-V']).status === 0

/**
 * Runs a program with an open database as `sqlite` and its queue as `write`.
 * Returns each sync of the WAL and each line that the program printed, in
 * order. Returns null without strace.
 */
function trace(t: TestContext, program: string): string[] | null {
  if (!hasStrace) {
    assert.ok(!process.env.CI, 'strace is missing, and durability must be proven here: install it')
    t.skip('STRACE IS MISSING: that answered writes survive a power cut is NOT TESTED on this machine')
    return null
  }
  const folder = temporaryFolder(t)
  const source = (file: string) => JSON.stringify(path.join(packageRoot(), 'src/platform/database', file))
  const script = `import { writeSync } from 'node:fs'
    const { openDatabase } = await import(${source('open.ts')})
    const { createWriteQueue } = await import(${source('write-queue.ts')})
    const folder = ${JSON.stringify(folder)}
    const sqlite = openDatabase(folder + '/service.db', { backupDir: folder, now: new Date() })
    sqlite.exec('create table note (n integer)')
    const { write } = createWriteQueue(sqlite)
    const add = (n) => write(() => sqlite.prepare('insert into note values (?)').run(n))
    const say = (text) => writeSync(1, 'SAID ' + text + ' ')
    ${program}`
  const log = path.join(folder, 'trace')
  const command = [process.execPath, '--input-type=module', '-e', script]
  const { status, stderr } = spawnSync('strace', [
    '-f',
    '-y',
    '-e',
    'trace=fsync,fdatasync,write',
    '-o',
    log,
    ...command,
  ])
  assert.equal(status, 0, String(stderr))
  return readFileSync(log, 'utf8')
    .split('\n')
    .flatMap((line) => {
      if (/f(data)?sync\(.*service\.db-wal/.test(line)) return ['sync']
      const printed = /"SAID (\w+) "/.exec(line)?.[1]
      return printed ? [printed] : []
    })
    .slice(0, 1_000)
}

const between = (seen: string[], from: string, to: string) => seen.slice(seen.indexOf(from) + 1, seen.indexOf(to))

test('a write is synced to disk before it resolves', (t) => {
  const seen = trace(t, "say('asked'); await add(1); say('answered')")
  if (!seen) return
  assert.ok(between(seen, 'asked', 'answered').includes('sync'), seen.join(' '))
})

test('a hundred writes of one turn need one sync', (t) => {
  const program = `say('one'); await add(0); say('many')
    await Promise.all(Array.from({ length: 100 }, (_, n) => add(n))); say('turns')
    for (let n = 0; n < 20; n++) await add(n)
    say('end')`
  const seen = trace(t, program)
  if (!seen) return
  const count = (from: string, to: string) => between(seen, from, to).length
  assert.equal(count('one', 'many'), 1)
  assert.equal(count('many', 'turns'), 1)
  assert.equal(count('turns', 'end'), 20, 'each turn is a commit of its own')
})

test('a batch that runs again after an error is synced once, before it resolves', (t) => {
  const program = `const refused = write(() => { sqlite.exec('insert into note values (1)'); throw new Error('refused') })
    say('asked'); await Promise.allSettled([add(0), refused, add(2)]); say('answered')`
  const seen = trace(t, program)
  if (!seen) return
  assert.deepEqual(between(seen, 'asked', 'answered'), ['sync'])
})

test('without the synchronous pragma a write is not synced', (t) => {
  const seen = trace(t, "sqlite.pragma('synchronous = normal'); say('asked'); await add(1); say('answered')")
  if (!seen) return
  assert.deepEqual(between(seen, 'asked', 'answered'), [])
})
