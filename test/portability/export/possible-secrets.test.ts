import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestApp } from '../../helpers.ts'
import { makeAgent, makeCompany } from '../../make.ts'

const HOOK = 'https://hooks.slack.com/services/TAAAAAAAA/BAAAAAAAA/abcdefghijklmnopqrstuvwx'

const CONFIGURATIONS = [
  ['http', { url: 'https://api.example.com/wake?key=plainwordkey' }, 'plainwordkey'],
  ['http', { url: HOOK }, 'abcdefghijklmnopqrstuvwx'],
  ['process', { command: 'run', args: ['--key', 'sk-abcdefghijklmnop'] }, 'sk-abcdefghijklmnop'],
  ['runtimeA_local', { extraArgs: ['--auth=abcdefgh'] }, 'abcdefgh'],
] as const

for (const [adapterType, adapterConfig, secret] of CONFIGURATIONS) {
  test(`an export leaves ${secret} of a ${adapterType} agent out, with a warning`, async (t) => {
    const app = createTestApp(t)
    const companyId = await makeCompany(app)
    await makeAgent(app, companyId, { adapterType, adapterConfig })
    const { files, warnings } = await app.make('POST', `/api/companies/${companyId}/exports`, {})
    assert.ok(!JSON.stringify(files).includes(secret))
    assert.match(JSON.stringify(warnings), /may contain a secret/)
  })
}

test('an export warns about a hook in a text', async (t) => {
  const app = createTestApp(t)
  const companyId = await makeCompany(app, { description: `Post to ${HOOK}.` })
  const { warnings } = await app.make('POST', `/api/companies/${companyId}/exports`, {})
  assert.ok(warnings.some(({ code }: { code: string }) => code === 'possible_secret'))
})
