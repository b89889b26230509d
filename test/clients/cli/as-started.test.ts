import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { asStarted, programName } from '../../../src/clients/cli/command/as-started.ts'
import { packageRoot } from '../../../src/platform/package-root.ts'
import { temporaryFolder } from '../../helpers.ts'
import { runService } from './service.ts'

const started = { executable: null, env: { PATH: '/usr/bin:/opt/bin' }, cwd: '/home/ada' }
const checkout = path.join(packageRoot(), 'bin/service.mjs')

test('the name of the program is the command that started it', () => {
  for (const [how, name] of [
    [{ script: '/opt/bin/service' }, 'service'],
    [{ script: '/home/ada/app/node_modules/.bin/service' }, 'app/node_modules/.bin/service'],
    [{ script: '/home/ada/bin/service.mjs' }, 'node bin/service.mjs'],
    [{ script: checkout }, `node ${checkout}`],
    [{ script: checkout, env: { npm_command: 'exec' } }, 'npx service'],
    [{ script: '', executable: 'service' }, 'service'],
    [{ script: '', executable: './dist/service' }, 'dist/service'],
    [{ script: '', executable: '/opt/bin/service' }, 'service'],
    [{ script: '', executable: '/srv/my programs/service' }, "'/srv/my programs/service'"],
    [{ script: path.join(packageRoot(), 'src/main.ts') }, 'service'],
  ] as const)
    assert.equal(programName({ ...started, ...how }), name, JSON.stringify(how))
})

test('hints name the command that started the program, and no other text changes', () => {
  const texts = [
    'Run `service backup` to create one now.',
    'Restore it (service restore FILE).',
    '  $ service issue list',
    'Then: service agent resume NAME.',
  ]
  for (const text of texts) assert.equal(asStarted(text), text.replace('service', programName()))
  for (const text of ['The service starts.', 'my-service start', 'Stop the service and restart it.'])
    assert.equal(asStarted(text), text)
})

test('help, errors and empty lists print the command as it was started', async (t) => {
  const dataDir = temporaryFolder(t)
  const help = await runService(t, ['backup', '--help'])
  assert.match(help.out, /^Usage: node .*bin\/service\.mjs backup/)
  assert.match(help.out, /\$ node .*bin\/service\.mjs restore /)
  const error = await runService(t, ['status', '--data-dir', dataDir])
  assert.match(error.err, /^service: .*`node .*bin\/service\.mjs start --data-dir "[^"]+"`/)
})

test('a program that npx installed from a packed file names that file', (t) => {
  const folder = temporaryFolder(t)
  mkdirSync(path.join(folder, 'node_modules', '.bin'), { recursive: true })
  const script = path.join(folder, 'node_modules', '.bin', 'service')
  writeFileSync(path.join(folder, 'package.json'), '{"dependencies":{"@service-board/service":"file:a/service.tgz"}}')
  const root = path.join(folder, 'installed')
  mkdirSync(root)
  writeFileSync(path.join(root, 'package.json'), '{"name":"@service-board/service"}')
  assert.equal(
    programName({ ...started, script, env: { npm_command: 'exec' }, cwd: folder }, root),
    'npx ./a/service.tgz',
  )
})
