import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { openCappedLog } from '../../../src/runtime/process/capped-log.ts'
import { exitFile, logFolder } from '../../../src/runtime/process/run-files.ts'
import { readLog } from '../../../src/runtime/run-log/read-log.ts'

function folder(t: TestContext): string {
  const made = mkdtempSync(path.join(tmpdir(), 'service-log-'))
  t.after(() => rmSync(made, { recursive: true, force: true }))
  return made
}

test('a log of up to half its cap is complete, for any sequence of writes and reads', (t) => {
  const base = folder(t)
  let count = 0
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'grapheme', maxLength: 20 }), { maxLength: 20 }),
      fc.integer({ min: 16, max: 100 }),
      (texts, size) => {
        const runDir = path.join(base, String(count++))
        const log = openCappedLog(logFolder(runDir), 64 * 1024)
        let read = ''
        let offset = 0
        const readOn = () => {
          const part = readLog(runDir, offset, size)
          read += part.text
          offset = part.nextOffset
          return part
        }
        for (const text of texts) {
          // One character in two writes: a pipe can split it.
          const bytes = Buffer.from(text)
          log.write(bytes.subarray(0, bytes.length - 1))
          readOn()
          log.write(bytes.subarray(bytes.length - 1))
        }
        log.close()
        writeFileSync(exitFile(runDir), '{}')
        while (!readOn().isComplete);
        assert.equal(read, texts.join(''))
      },
    ),
    { numRuns: 100 },
  )
})

test('a slow reader gets the number of skipped bytes', (t) => {
  const runDir = folder(t)
  const log = openCappedLog(logFolder(runDir), 800)
  log.write(Buffer.from('h'.repeat(400)))
  const head = readLog(runDir, 0, 1_000)
  assert.deepEqual(head, { text: 'h'.repeat(400), nextOffset: 400, isComplete: false })
  log.write(Buffer.from('t'.repeat(1_000)))
  const tail = readLog(runDir, head.nextOffset, 1_000)
  assert.equal(tail.text, `\n[... 600 bytes left out ...]\n${'t'.repeat(400)}`)
  assert.equal(tail.nextOffset, 1_400)
  assert.equal(readLog(runDir, 1_400, 1_000).text, '')
  log.close()
})

test('the log of a run without output is empty, before and after its end', (t) => {
  const runDir = folder(t)
  assert.deepEqual(readLog(runDir, 0, 100), { text: '', nextOffset: 0, isComplete: false })
  writeFileSync(exitFile(runDir), '{}')
  assert.deepEqual(readLog(runDir, 0, 100), { text: '', nextOffset: 0, isComplete: true })
})
