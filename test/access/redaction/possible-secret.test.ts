import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mayContainSecret } from '../../../src/access/redaction/possible-secret.ts'

const SECRET = [
  'https://api.example.com/wake?key=plainwordkey',
  'https://api.example.com/wake?api_key=abc&x=1',
  'https://api.example.com/wake?sig=abcdefgh',
  'https://api.example.com/wake?v=0a1b2c3d4e5f6a7b8c9d0e1f',
  'https://api.example.com/wake#access_token=abcdefgh',
  'https://user:password@example.com/',
  'https://hooks.slack.com/services/TAAAAAAAA/BAAAAAAAA/abcdefghijklmnopqrstuvwx',
  'https://discord.com/api/webhooks/123/abcdefgh',
  'https://api.telegram.org/bot123456:abcdefgh/sendMessage',
  'https://example.com/x/0a1b2c3d4e5f6a7b8c9d0e1f/wake',
  ['--key', 'sk-abcdefghijklmnop'],
  ['--key=sk-abcdefghijklmnop'],
  ['-k', '--auth', 'abcdefgh'],
  ['STRIPE_KEY=abcdefgh'],
  ['-H', 'Authorization: Bearer abcdefgh'],
  ['sh', '-c', 'curl -H "x-api-key: abcdefgh" https://example.com'],
  ['-c', 'notify --webhook https://hooks.example.com/T1'],
  ['-k', '9f8e7d6c5b4a3z2y1x'],
  ['-u', 'user:9f8e7d6c5b4a3z2y1x'],
  ['sh', '-c', 'run --access 9f8e7d6c5b4a3z2y1x now'],
  { nested: { deploy_pass: 'abcdefgh' } },
]

const PLAIN = [
  'https://example.com/wake',
  'https://example.com/wake?team=blue&limit=10',
  'https://example.com/a-long-path-of-plain-words-only/wake',
  'http://localhost:3000/hook-receiver',
  ['--model', 'claude-opus-4-20250514', '--max-turns', '20'],
  ['run', '--verbose', '--output', 'report.json'],
  ['--keyboard', 'qwertyuiop'],
  ['--resume', '01a20526-5fb8-767a-b390-412b6bcaddb5', 'twenty_letters_and_more'],
  { commit: '9f8e7d6c5b4a39f8e7d6c5b4a3' },
  { timeoutSec: 60, model: 'gpt-5.2-codex' },
  null,
  7,
]

for (const value of SECRET) {
  test(`${JSON.stringify(value)} may contain a secret`, () => assert.equal(mayContainSecret(value), true))
}
for (const value of PLAIN) {
  test(`${JSON.stringify(value)} contains no secret`, () => assert.equal(mayContainSecret(value), false))
}
