import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../helpers.ts'

const VERIFY = '/usr/bin/systemd-analyze'

test('systemd accepts the unit of the documentation', {
  skip: existsSync(VERIFY) ? false : 'needs systemd-analyze',
}, (t) => {
  const page = path.resolve(import.meta.dirname, '../../../docs/operations/scaling.md')
  const unit = /## systemd\n\n```\n([^`]+)```/.exec(readFileSync(page, 'utf8'))?.[1]
  assert.ok(unit)
  const file = path.join(temporaryFolder(t), 'service.service')
  // The program is not installed here.
  writeFileSync(file, unit.replace('/usr/bin/service', '/bin/true'))
  const { status, stderr } = spawnSync(VERIFY, ['verify', file], { encoding: 'utf8' })
  assert.deepEqual([status, stderr.split('\n').filter((line) => line.includes('service.service'))], [0, []], stderr)
})
