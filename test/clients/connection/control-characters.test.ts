import assert from 'node:assert/strict'
import { test } from 'node:test'
import { oneLine } from '../../../src/clients/cli/command/output.ts'
import { escapeInJson } from '../../../src/clients/connection/control-characters.ts'

const HOSTILE = 'a\u009b31mb\u202ec\u2066d\u200fe\u007ff\u2028g'

test('JSON output escapes terminal control characters, and parses to the same value', () => {
  const json = escapeInJson(JSON.stringify({ name: HOSTILE }))
  assert.match(json, /^[\x20-\x7e]*$/)
  assert.deepEqual(JSON.parse(json), { name: HOSTILE })
})

test('lines contain no terminal control characters', () => {
  assert.match(oneLine(HOSTILE), /^[\x20-\x7e]*$/)
})
