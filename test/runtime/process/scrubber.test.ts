import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createScrubber } from '../../../src/runtime/process/scrubber.ts'

const scrub = (secrets: string[], chunks: Buffer[]) => {
  const scrubber = createScrubber(secrets)
  return Buffer.concat([...chunks.map((chunk) => Buffer.from(scrubber.push(chunk))), scrubber.flush()])
}

test('how a stream is cut into chunks makes no difference', () => {
  const word = fc.stringMatching(/^[ab=%]{4,7}$/)
  fc.assert(
    fc.property(
      fc.array(word, { minLength: 1, maxLength: 4 }),
      fc.array(fc.oneof(word, fc.nat(3)), { maxLength: 12 }),
      fc.array(fc.nat(60), { maxLength: 8 }),
      (secrets, pieces, cuts) => {
        const text = pieces.map((piece) => (typeof piece === 'number' ? (secrets[piece] ?? 'x') : piece)).join('')
        const bytes = Buffer.from(text)
        const at = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length]
        const chunks = at.slice(1).map((end, i) => bytes.subarray(at[i], end))
        assert.equal(String(scrub(secrets, chunks)), String(scrub(secrets, [bytes])))
      },
    ),
    { numRuns: 2_000 },
  )
})

test('no secret is ever left in the output', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', minLength: 8, maxLength: 40 }),
      fc.string({ maxLength: 7 }),
      fc.nat(3),
      (secret, before, form) => {
        const shown = [
          secret,
          encodeURIComponent(secret.toWellFormed()),
          Buffer.from(secret).toString('base64'),
          Buffer.from(secret).toString('base64url'),
        ][form]!
        const out = String(scrub([secret], [Buffer.from(`${before}|${shown}|after`)]))
        assert.ok(out.includes('[redacted]'), out)
        assert.ok(!out.includes(shown), out)
      },
    ),
  )
})

test('a secret that is the beginning of another one does not uncover the rest of it', () => {
  const out = scrub(['token', 'token-long'], [Buffer.from('a token'), Buffer.from('-long b token c')])
  assert.equal(String(out), 'a [redacted] b [redacted] c')
})

test('text that only begins like a secret is shown, at the end at the latest', () => {
  assert.equal(String(scrub(['secret'], [Buffer.from('it is secr')])), 'it is secr')
})

test('very short values are not looked for', () => {
  assert.equal(String(scrub(['1', ''], [Buffer.from('1 of 11')])), '1 of 11')
})
