import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as v from 'valibot'
import { limitsOf } from '../../src/adapter/config.ts'
import { ADAPTERS, adapterOf } from '../../src/adapter/registry.ts'
import { secretNames, withSecrets } from '../../src/adapter/secrets.ts'
import { sessionToResume } from '../../src/adapter/session.ts'

const refused: [type: string, config: unknown, path: string, message: RegExp][] = [
  ['runtimeA_local', { modle: 'opus' }, 'modle', /"modle" is not a key of this configuration\. The keys are: .*model/],
  ['runtimeA_local', { cwd: 'work' }, 'cwd', /absolute/],
  ['runtimeA_local', { cwd: '/a\0b' }, 'cwd', /NUL/],
  ['runtimeA_local', { command: '' }, 'command', /empty/],
  ['runtimeA_local', { command: './claude' }, 'command', /name on the PATH or an absolute path/],
  ['runtimeA_local', { model: '--resume' }, 'model', /no leading dash/],
  ['runtimeA_local', { extraArgs: 'a b' }, 'extraArgs', /list of texts/],
  ['runtimeA_local', { extraArgs: ['a', 'b\0'] }, 'extraArgs.1', /NUL/],
  ['runtimeA_local', { extraArgs: ['--output-format=text'] }, 'extraArgs', /The service sets these itself/],
  ['runtimeA_local', { timeoutSec: 0 }, 'timeoutSec', /from 1 to 86400/],
  ['runtimeA_local', { timeoutSec: '60' }, 'timeoutSec', /from 1 to 86400/],
  ['runtimeA_local', { graceSec: 301 }, 'graceSec', /from 0 to 300/],
  ['runtimeA_local', { silenceSec: 1.5 }, 'silenceSec', /whole number/],
  ['runtimeA_local', { maxTurns: 0 }, 'maxTurns', />=1/],
  ['runtimeA_local', { env: { 'A-B': 'x' } }, 'env.A-B', /letters, digits and underscores/],
  ['runtimeA_local', { env: { SERVICE_API_KEY: 'x' } }, 'env.SERVICE_API_KEY', /belong to the run/],
  ['runtimeA_local', { env: { NODE_OPTIONS: '--require x' } }, 'env.NODE_OPTIONS', /load code/],
  ['runtimeA_local', { env: { A: 5 } }, 'env.A', /a text or \{"\$secret": "NAME"\}/],
  ['runtimeA_local', { env: { A: { $secret: 'B', x: 1 } } }, 'env.A', /a text or/],
  ['runtimeB_local', { dangerouslySkipPermissions: true }, 'dangerouslySkipPermissions', /not a key/],
  ['process', {}, 'command', /"command" is missing/],
  ['process', { command: 'x', model: 'y' }, 'model', /not a key/],
  ['process', { command: 'x', args: [1] }, 'args.0', /text/],
  ['http', { url: 'ftp://a' }, 'url', /http or https/],
  ['http', { url: 'https://user:pass@a' }, 'url', /without a user name/],
  ['http', { url: 'https://a', headers: { 'x y': 'z' } }, 'headers.x y', /header's name/],
  ['http', { url: 'https://a', headers: { x: 'a\r\nb: c' } }, 'headers.x', /one line/],
  ['process', null, '', /must be an object/],
]

describe('the configuration of an adapter', () => {
  for (const [type, config, path, message] of refused) {
    test(`${type} refuses ${JSON.stringify(config)}`, () => {
      const { issues } = v.safeParse(adapterOf(type)!.config, config)
      const issue = issues?.find((candidate) => (v.getDotPath(candidate) ?? '') === path)
      assert.ok(issue, `no issue at ${path}: ${issues?.map((other) => v.getDotPath(other))}`)
      assert.match(issue.message, message)
    })
  }

  test('both local adapters accept an empty configuration, with default limits', () => {
    for (const type of ['runtimeA_local', 'runtimeB_local']) {
      assert.deepEqual(limitsOf(v.parse(adapterOf(type)!.config, {})), {
        timeoutSec: 3600,
        graceSec: 10,
        silenceSec: 1800,
      })
    }
    assert.deepEqual(limitsOf({ url: 'https://a', timeoutSec: 30 }), { timeoutSec: 35, graceSec: 10, silenceSec: 0 })
  })

  test('every key of every adapter has a description for the guide', () => {
    for (const adapter of ADAPTERS) {
      const { entries } = adapter.config as unknown as { entries: Record<string, v.GenericSchema> }
      for (const [key, schema] of Object.entries(entries)) {
        const inner = 'wrapped' in schema ? (schema.wrapped as v.GenericSchema) : schema
        assert.ok(v.getDescription(inner), `${adapter.type}: ${key}`)
      }
    }
  })

  test('finds and replaces secrets in env and headers', () => {
    const config = { url: 'https://a', headers: { authorization: { $secret: 'KEY' }, accept: 'x' } }
    assert.deepEqual(secretNames(config), ['KEY'])
    assert.deepEqual(withSecrets(config, (name) => `value of ${name}`).headers as unknown, {
      authorization: 'value of KEY',
      accept: 'x',
    })
  })
})

describe('a session', () => {
  const stored = { id: 's', totals: {}, cwd: '/work', instructionsHash: 'one' }
  const setting = { cwd: '/work', instructionsHash: 'one', flags: null }
  const [a, b, program] = [adapterOf('runtimeA_local')!, adapterOf('runtimeB_local')!, adapterOf('process')!]

  test('is resumed in the same directory with the same instructions', () => {
    assert.deepEqual(sessionToResume(a, stored, setting), { id: 's', totals: {} })
    assert.equal(sessionToResume(a, null, setting), null)
    assert.equal(sessionToResume(program, stored, setting), null)
    assert.equal(sessionToResume(a, stored, { ...setting, cwd: '/other' }), null)
  })

  test('is not resumed with changed instructions, unless the program supports it', () => {
    const changed = { ...setting, instructionsHash: 'two' }
    assert.equal(sessionToResume(a, stored, changed), null)
    assert.ok(sessionToResume(a, stored, { ...changed, flags: new Set(['--system-prompt-snapshot']) }))
    assert.ok(sessionToResume(b, stored, changed)) // the instructions are in its prompt
  })
})
