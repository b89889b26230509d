import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { damagePages, failDisk, isGuaranteeKept } from './disk.ts'

const skip = !process.env.CI && spawnSync('strace', ['-V']).status !== 0 && 'strace is missing'

test('a single disk failure causes neither a crash nor data loss, and the next write succeeds', { skip }, () => {
  const report = failDisk(24)
  assert.ok(isGuaranteeKept(report) && report.faults > 5, JSON.stringify(report))
})

test('a damaged page causes an error, not a crash', () => {
  assert.deepEqual(damagePages(3), { damaged: 3, crashed: 0 })
})
