import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { cutPower } from './power.ts'

const skip = !process.env.CI && spawnSync('strace', ['-V']).status !== 0 && 'strace is missing'

test('a power failure at any moment loses no acknowledged write with sync, and does without it', { skip }, () => {
  assert.deepEqual(cutPower(60, 'full'), { cuts: 60, lost: 0, broken: 0 })
  assert.ok(cutPower(20, 'normal').lost > 0, 'the control at NORMAL must lose writes')
})
