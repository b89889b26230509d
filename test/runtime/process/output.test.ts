import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { logFolder } from '../../../src/runtime/process/run-files.ts'
import { readLog } from '../../../src/runtime/run-log/read-log.ts'
import { logOf, memoryOf, specOf, start, until } from './runs.ts'

const MEGABYTE = 1024 * 1024
/** Node itself uses 50 to 70 MB. */
const FLAT = 160 * MEGABYTE

test('of large output the log keeps the head and the tail, within the disk cap and with constant memory in the shim', async (t) => {
  const megabytes = 200
  const run = await start(t, specOf('flood', [String(megabytes)], { redact: ['a-secret-that-is-not-there'] }))
  let memory = 0
  const sample = setInterval(() => {
    try {
      memory = Math.max(memory, memoryOf(run.identity!.pid))
    } catch {
      // the process has ended
    }
  }, 50)
  const end = await run.ended
  clearInterval(sample)
  const size = megabytes * MEGABYTE + 'the first line\nthe last line\n'.length
  assert.equal(end.bytes.stdout, size)
  assert.ok(memory > 0 && memory < FLAT, `${memory / MEGABYTE} MB`)

  const folder = logFolder(run.runDir)
  const onDisk = readdirSync(folder).reduce((sum, name) => sum + statSync(path.join(folder, name)).size, 0)
  assert.ok(onDisk <= MEGABYTE && onDisk > 0.8 * MEGABYTE, `${onDisk} bytes`)
  const text = logOf(run.runDir)
  assert.ok(text.startsWith('the first line\n'))
  assert.ok(text.endsWith('the last line\n'))
  const note = /\n\[\.\.\. (\d+) bytes left out \.\.\.\]\n/.exec(text)!
  assert.equal(text.length - note[0].length + Number(note[1]), size)
})

test('a growing log is read in parts, and the parts add up to the whole log', async (t) => {
  const run = await start(t, specOf('slow-lines'))
  let offset = 0
  let text = ''
  let reads = 0
  await until(() => {
    const part = readLog(run.runDir, offset, 16)
    if (part.text) reads++
    text += part.text
    offset = part.nextOffset
    return part.isComplete
  }, 'the end of the log')
  assert.equal(text, 'one piece at a time\n')
  assert.ok(reads > 1)
  await run.ended
})

test('secrets are removed from the log in every form, also if they arrive in two writes', async (t) => {
  const secret = 's3cr3t/välue+"=='
  const run = await start(t, specOf('leaks', [], { env: { SECRET: secret }, redact: [secret] }))
  await run.ended
  const text = logOf(run.runDir)
  assert.match(text, /^plain \[redacted\] ok\n\[redacted\]\nbase64 \[redacted\] ok\n/)
  assert.match(text, /\nurl \[redacted\] ok\njson {"secret":"\[redacted\]"}\nthe end\n$/)
  const inside = Buffer.from(`user:${secret}`).toString('base64').slice(8, -4)
  assert.ok(!text.includes(inside), text)
})
