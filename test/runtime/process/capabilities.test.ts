import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createProbe, findProgram } from '../../../src/runtime/process/capabilities.ts'

const HELP = `echo "Usage: agent [options]
  -p, --print             print
  --session-id <uuid>     preset the session; see also --resume=<id>
  --no-color              mid-word dashes such as well-known are no options"`

/** Creates a folder with a program that counts its starts. */
function program(t: TestContext, script: string) {
  const folder = mkdtempSync(join(tmpdir(), 'probe-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'agent')
  writeFileSync(path, `#!/bin/sh\necho x >> ${folder}/starts\n${script}\n`)
  chmodSync(path, 0o755)
  const starts = () => readFileSync(join(folder, 'starts'), 'utf8').split('\n').length - 1
  return { folder, path, starts, env: { PATH: `${folder}:/usr/bin:/bin` } }
}

test('a program may print its help to standard error', async (t) => {
  const { env } = program(t, `{ ${HELP}\n} >&2`)
  const found = await createProbe(env)('agent')
  assert.deepEqual(found?.flags, new Set(['-p', '--print', '--session-id', '--resume', '--no-color']))
})

test('a program is probed once for its version and options, until its file changes', async (t) => {
  const { path, starts, env } = program(t, `[ "$1" = --version ] && { echo 'agent 1.2.3'; echo more; exit; }\n${HELP}`)
  const probe = createProbe(env)
  const [found, again] = await Promise.all([probe('agent'), probe(path)])
  assert.deepEqual(found, {
    path,
    version: 'agent 1.2.3',
    flags: new Set(['-p', '--print', '--session-id', '--resume', '--no-color']),
  })
  assert.deepEqual(again, found)
  await probe('agent')
  assert.equal(starts(), 2)
  utimesSync(path, 1, 1)
  await probe('agent')
  assert.equal(starts(), 4)
})

test('the cache key of a probe contains the help arguments', async (t) => {
  const { env } = program(t, `[ "$1 $2" = 'exec --help' ] && echo '  --json'`)
  assert.deepEqual((await createProbe(env)('agent', ['exec', '--help']))?.flags, new Set(['--json']))
})

test('a probe of a missing program reports that it does not exist', async (t) => {
  const { folder, env } = program(t, '')
  const probe = createProbe(env)
  for (const command of ['no-such-program', join(folder, 'none'), folder, './agent', '']) {
    assert.equal(await probe(command), null)
  }
})

test('a probe of a program that fails or hangs returns no data and leaves no process', async (t) => {
  const failing = program(t, 'exit 1')
  assert.deepEqual(await createProbe(failing.env)('agent'), { path: failing.path, version: null, flags: null })
  const hanging = program(t, `echo $$ > $(dirname $0)/pid; exec sleep 60`)
  assert.deepEqual(await createProbe(hanging.env, { timeoutMs: 300 })('agent'), {
    path: hanging.path,
    version: null,
    flags: null,
  })
  const pid = Number(readFileSync(join(hanging.folder, 'pid'), 'utf8'))
  assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' })
})

test('a program whose probe timed out is probed again later', async (t) => {
  const { folder, path, env } = program(t, `[ -e $(dirname $0)/busy ] && exec sleep 60\necho --print`)
  writeFileSync(join(folder, 'busy'), '')
  const probe = createProbe(env, { timeoutMs: 300, retryMs: 0 })
  assert.deepEqual(await probe('agent'), { path, version: null, flags: null })
  rmSync(join(folder, 'busy'))
  assert.deepEqual((await probe('agent'))?.flags, new Set(['--print']))
})

test('a program is found on the given PATH, and gets that PATH', async (t) => {
  const { folder, path } = program(t, 'echo --print')
  const probe = createProbe({ PATH: '/nowhere' })
  assert.equal(await probe('agent'), null)
  const found = await probe('agent', ['--help'], `${folder}:/usr/bin:/bin`)
  assert.deepEqual([found?.path, found?.flags], [path, new Set(['--print'])])
})

test('without a PATH system programs are found', async () => {
  assert.match(findProgram('true', undefined) ?? '', /^\/(usr\/)?bin\/true$/)
  assert.equal((await createProbe({})('sh'))?.path, findProgram('sh'))
})

test('a probe is not delayed by large output or by a child that stays alive', async (t) => {
  const flood = program(t, 'echo --early; yes -- --flood')
  assert.ok((await createProbe(flood.env)('agent'))?.flags?.has('--early'))
  const leaving = program(t, 'sleep 60 &\necho --left')
  assert.deepEqual((await createProbe(leaving.env)('agent'))?.flags, new Set(['--left']))
})

test('the first executable program on the path is found, and files that cannot run are skipped', (t) => {
  const first = program(t, '')
  const second = program(t, '')
  chmodSync(first.path, 0o644)
  assert.equal(findProgram('agent', `relative:${first.folder}:${second.folder}`), second.path)
  assert.equal(findProgram(first.path, ''), null)
})
