import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isOrdinaryValue } from '../../../src/adapter/ordinary-value.ts'
import { createCredential } from '../../../src/platform/credential.ts'
import { createScrubber } from '../../../src/runtime/process/scrubber.ts'

const scrub = (secrets: string[], chunks: Buffer[]) => {
  const scrubber = createScrubber(secrets)
  return Buffer.concat([...chunks.map((chunk) => Buffer.from(scrubber.push(chunk))), scrubber.flush()])
}

test('chunk boundaries in a stream do not change the result', () => {
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

test('the output contains no secret', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', minLength: 8, maxLength: 40 }),
      fc.string({ maxLength: 7 }),
      fc.nat(3),
      (secret, before, form) => {
        const displayed = [
          secret,
          encodeURIComponent(secret.toWellFormed()),
          Buffer.from(secret).toString('base64'),
          Buffer.from(secret).toString('base64url'),
        ][form]!
        const out = String(scrub([secret], [Buffer.from(`${before}|${displayed}|after`)]))
        assert.ok(out.includes('[redacted]'), out)
        assert.ok(!out.includes(displayed), out)
      },
    ),
  )
})

test('a secret that is a prefix of another secret does not expose the rest of it', () => {
  const out = scrub(['token', 'token-long'], [Buffer.from('a token'), Buffer.from('-long b token c')])
  assert.equal(String(out), 'a [redacted] b [redacted] c')
})

test('text that only starts like a secret is passed through, at the latest at the end', () => {
  assert.equal(String(scrub(['secret'], [Buffer.from('it is secr')])), 'it is secr')
})

test('very short values are not scrubbed', () => {
  assert.equal(String(scrub(['1', ''], [Buffer.from('1 of 11')])), '1 of 11')
})

const KEYS = [
  createCredential('svc_'),
  createCredential('svcb_'),
  `eyJ${'a'.repeat(40)}.eyJ${'b'.repeat(300)}.${'c'.repeat(43)}`,
]

for (const key of KEYS) {
  test(`a credential of the service (${key.slice(0, 5)}) is removed for every owner and for all chunk boundaries`, () => {
    const bytes = Buffer.from(`key=${key} é`)
    for (let size = 1; size <= bytes.length; size += 7) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      )
      assert.equal(String(scrub([], chunks)), 'key=[redacted] é')
    }
  })
}

test('text that only starts like a credential is kept', () => {
  const text = 'svc_internal svc svcb_ eyJ eyJhbGci.x.y sv'
  assert.equal(String(scrub([], [Buffer.from(text)])), text)
})

const PEM = `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj/+x1'.repeat(2)}\n8MzEfYyjiWA4R4/M2bS1GB4t7==\n-----END PRIVATE KEY-----\n`
const NASTY = 'qé🔑/"x\\8!(9)*~ \'z\u2028'
const nested = (text: string, level: number): string => (level === 0 ? text : JSON.stringify(nested(text, level - 1)))
const wrapped = (text: string, length: number) =>
  Buffer.from(text)
    .toString('base64')
    .replace(new RegExp(`.{${length}}`, 'g'), '$&\n')

/** Outputs of programs, and a part of each that must not remain. */
const ENCODED: Record<string, [secret: string, output: string, part: string]> = {
  'JSON in JSON': [NASTY, nested(NASTY, 2), 'qé'],
  'JSON in JSON in JSON': [NASTY, nested(NASTY, 3), 'qé'],
  'JSON in ASCII': [
    NASTY,
    nested(NASTY, 1).replace(/[\u0080-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`),
    '🔑',
  ],
  'JSON with escaped slashes': [NASTY, nested(NASTY, 1).replaceAll('/', '\\/'), 'qé'],
  'a form': [NASTY, String(new URLSearchParams({ x: NASTY })), '%22x'],
  'a URL with plain slashes': [NASTY, encodeURI(NASTY), '%22x'],
  'the lines of a key file': [PEM, PEM.replaceAll('\n', '\r\n> '), 'MIIEvQ'],
  'a line of a key file in JSON in JSON': [PEM, nested(PEM.split('\n')[2]!, 2), '8MzEf'],
  'base64 in lines of 76': [PEM, wrapped(PEM, 76), wrapped(PEM, 76).slice(0, 60)],
  'base64 in lines of 64': [PEM, wrapped(PEM, 64), wrapped(PEM, 64).slice(65, 120)],
}

for (const [name, [secret, output, part]] of Object.entries(ENCODED)) {
  test(`a secret is scrubbed in ${name}`, () => {
    const out = String(scrub([secret], [Buffer.from(output)]))
    assert.ok(out.includes('[redacted]'), out)
    assert.ok(!out.includes(part), out)
  })
}

test('ordinary lines of a secret of several lines are kept', () => {
  assert.equal(String(scrub(['production\nx9-hunter2-zebra'], [Buffer.from('in production')])), 'in production')
})

const SECRET_VALUES: [string, string][] = [
  ['STRIPE_KEY', 'rk_live_51H8abcdEFGH'],
  ['FAKE_KEY', 'correcthorse'],
  ['DEPLOY_PASS', 'correct-horse-battery'],
  ['PLAIN', 'x9-hunter2-zebra'],
  ['HOOK_URL', 'https://hooks.example.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX'],
  ['TARGET', 'https://example.com/?q=hunter2zebra'],
]
for (const [name, value] of SECRET_VALUES) {
  test(`${name}=${value} is scrubbed`, () => assert.equal(isOrdinaryValue(name, value), false))
}

const ORDINARY_VALUES: [string, string][] = [
  ['NODE_ENV', 'production'],
  ['REGION', 'us-east-gov'],
  ['VERSION', '10.20.30.40'],
  ['TZ', 'America/Argentina/Buenos_Aires'],
  ['LANG', 'en_US.UTF-8'],
  ['ROOT', '/home/someone/projects/site'],
  ['SITE', 'https://example.com/docs/start'],
  ['SERVER', 'localhost:8080'],
  ['SINCE', '2026-11-22T04:00:00Z'],
]
for (const [name, value] of ORDINARY_VALUES) {
  test(`${name}=${value} is kept`, () => assert.equal(isOrdinaryValue(name, value), true))
}
