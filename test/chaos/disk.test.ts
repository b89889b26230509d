import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { damagePages, failDisk, isKept } from './disk.ts'

const skip = !process.env.CI && spawnSync('strace', ['-V']).status !== 0 && 'strace is missing'

test('a disk that fails once crashes nothing and loses nothing, and the next write works', { skip }, () => {
  const report = failDisk(24)
  assert.ok(isKept(report) && report.faults > 5, JSON.stringify(report))
})

test('a damaged page is an error, never a crash', () => {
  assert.deepEqual(damagePages(3), { damaged: 3, crashed: 0 })
})
