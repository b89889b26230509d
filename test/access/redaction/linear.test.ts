import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findKeys } from '../../../src/access/redaction/key-formats.ts'
import { containsSecretUrl, mayContainSecret } from '../../../src/access/redaction/possible-secret.ts'
import { redact, secretsIn } from '../../../src/access/redaction/redact.ts'
import { isOrdinaryValue } from '../../../src/adapter/ordinary-value.ts'
import { findMentioned, findUnknownMentions } from '../../../src/work/comment/mentions.ts'

/** Texts with many partial matches. */
const FILLERS = [
  ...[
    'sk-',
    'eyJ',
    'eyJvy-u-',
    'eyJaaaaaaaa.',
    'svc_',
    'gho_',
    'AKIA',
    'xoxb-',
    'a://b@',
    'a://',
    'http://a ',
    'a.',
    'a/',
  ],
  ...['?a=', '&key=', '#token', '?&#'],
  ...['A', '"', "'", '-', '_', '--key ', 'key=', '/hook/', '@a.', '@ä.', '@a ', '`a', '``a ', '\n`', '> ', '%@', 'a+@'],
]

const SEARCHES: Record<string, (text: string) => unknown> = {
  redact: (text) => redact({ text, list: [text] }),
  secretsIn,
  containsSecretUrl,
  'a URL with it as its path': (text) => containsSecretUrl(`http://a/${text}`),
  'a URL with it in its query': (text) => containsSecretUrl(`http://a/?x=${text}`),
  mayContainSecret: (text) => mayContainSecret([text, `x${text}x`]),
  isOrdinaryValue: (text) => isOrdinaryValue('NAME', text),
  findMentioned: (text) => findMentioned(text, [{ name: 'a b' }]),
  findUnknownMentions: (text) => findUnknownMentions(text, []),
}

const cpuMs = (work: () => unknown): number => {
  const began = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(began)
  return (user + system) / 1_000
}

test('searches for secrets and mentions take linear time on texts of 100,000 characters', () => {
  const slow: string[] = []
  for (const [name, search] of Object.entries(SEARCHES)) {
    for (const filler of FILLERS) {
      const text = filler.repeat(100_000 / filler.length)
      // Slow three times, because the first call compiles code. Quadratic time is 1.5 s or more.
      const isSlow = [1, 2, 3].every(() => cpuMs(() => search(text)) > 400)
      if (isSlow) slow.push(`${name} of ${filler}`)
    }
  }
  assert.deepEqual(slow, [])
})

const JWT = 'eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJ_S-1'

const KEYS: [text: string, keys: string[]][] = [
  ['sk-abcdefghijklmnop1 and more', ['sk-abcdefghijklmnop1']],
  ['sk-abcdefghijklmnopq', []],
  ['sk-1234567', []],
  ['task-abcdefghijklmnop1', []],
  ['sk-a-sk-abcdefghijklmnop1.', ['sk-a-sk-abcdefghijklmnop1']],
  [`Bearer ${JWT}.x`, [JWT]],
  [`x-${JWT}`, [JWT]],
  ['eyJhbGciOiJI.eyJz', []],
  ['eyJhbGciOiJI.eyJzdWIiOiIx.', []],
  [`eyJ-${JWT}`, [`eyJ-${JWT}`]],
  ['svc_abcdefgh,gho_abcdefgh', ['svc_abcdefgh', 'gho_abcdefgh']],
  ['a token of a person, svcb_abcdefgh', ['svcb_abcdefgh']],
  ['AKIAABCDEFGHIJKL AKIA', ['AKIAABCDEFGHIJKL']],
  ['xoxb-12345678', ['xoxb-12345678']],
]

for (const [text, keys] of KEYS) {
  test(`the keys in "${text}" are ${keys.length === 0 ? 'none' : keys.join(' and ')}`, () => {
    assert.deepEqual(
      findKeys(text).map(({ start, end }) => text.slice(start, end)),
      keys,
    )
  })
}
