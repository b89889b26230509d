import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as v from 'valibot'
import { name } from '../../src/http/fields.ts'

const REFUSED = ['\u0007', '\u007f', '\u0085', '\u009b', '\u061c', '\u200f', '\u2028', '\u202e', '\u2066', '\u2069']

for (const character of REFUSED) {
  const code = character.charCodeAt(0).toString(16)
  test(`refuses a name with U+${code.padStart(4, '0')}`, () => assert.equal(v.is(name, `Kit${character}tik`), false))
}

for (const text of ['Kit', 'Çağrı', 'שלום', 'مرحبا', '👩‍👩‍👧‍👦 Family', 'a\u200cb', '日本語']) {
  test(`accepts the name ${text}`, () => assert.equal(v.is(name, text), true))
}
