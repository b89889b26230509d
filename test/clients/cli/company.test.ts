import assert from 'node:assert/strict'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { readZip } from '../../../src/platform/source/zip.ts'
import { PACKAGE_FILES } from '../../../src/portability/source/package-files.ts'
import { temporaryFolder } from '../../helpers.ts'
import { PACKAGES } from '../../portability/fixtures.ts'
import { withCommands } from './in-process.ts'

test('a folder can be imported as a company, exported as a zip, and imported again', async (t) => {
  const commands = await withCommands(t)
  const run = (...args: string[]) => commands.run('company', ...args)
  const dataDir = temporaryFolder(t)
  const folder = path.join(PACKAGES, 'agentsys-engineering')

  const preview = await run('import', folder, '--preview', '--no-fetch')
  assert.equal(preview.code, 0, preview.err)
  assert.match(preview.out, /^create +agent +Staff Engineer/m)
  assert.match(preview.out, /GH_TOKEN +secret +optional/)

  const unasked = await run('import', folder, '--no-fetch')
  assert.equal(unasked.code, 2)
  assert.match(unasked.err, /add --yes/)

  const imported = await run('import', folder, '--yes', '--no-fetch')
  assert.equal(imported.code, 0, imported.err)
  assert.match(imported.out, /Done\. AgentSys Engineering \(AGE\) has id/)

  const [one, two] = [path.join(dataDir, 'one.zip'), path.join(dataDir, 'two.zip')]
  const exported = await run('export', 'agentsys engineering', '--issues', '--out', one, '--yes')
  assert.equal(exported.code, 0, exported.err)
  assert.match(exported.out, /agents\/ceo\/AGENTS\.md +\d+ +The agent CEO and its instructions\./)
  assert.ok(
    (await readZip(readFileSync(one), PACKAGE_FILES)).files.has('projects/pipeline-setup/tasks/onboard-team/TASK.md'),
  )

  const again = await run('import', one, '--yes', '--json', '--no-fetch')
  const { companyId } = JSON.parse(again.out).target
  const second = await run('export', companyId, '--issues', '--out', two, '--yes')
  assert.equal(second.code, 0, second.err)
  assert.deepEqual(readFileSync(two), readFileSync(one))

  const ambiguous = await run('export', 'AgentSys Engineering', '--preview')
  assert.match(
    ambiguous.err,
    /2 records match AgentSys Engineering\. Use an id instead: \w{8} \(\w+\), \w{8} \(\w+\)\./,
  )
  const into = await run('import', one, '--into', 'AGE', '--collision', 'skip', '--yes', '--no-fetch')
  assert.match(into.out, /0 created, 0 renamed, \d+ skipped/)
})

test('a company can be created from a template, and an unreadable source prints a one-line error', async (t) => {
  const commands = await withCommands(t)
  const run = (...args: string[]) => commands.run('company', ...args)
  const dataDir = temporaryFolder(t)
  const made = await run('new', 'Walrus Ltd', '--template', 'software-team', '--yes')
  assert.equal(made.code, 0, made.err)
  assert.match(made.out, /Walrus Ltd \(WAL\) has id/)
  const broken = path.join(dataDir, 'broken.zip')
  writeFileSync(broken, 'no zip')
  const cases: [string[], number, RegExp][] = [
    [['new', '--template', 'nope', '--yes'], 2, /--template accepts content-studio/],
    [['import', path.join(dataDir, 'nowhere'), '--yes'], 2, /There is no folder or file/],
    [['import', broken, '--yes'], 1, /not a zip archive/],
    [['import', 'https://127.0.0.1/x.git', '--yes'], 1, /private network/],
    [['export', 'Nobody', '--preview'], 5, /There is no company Nobody/],
    [['export', 'Walrus Ltd'], 2, /--out/],
  ]
  for (const [args, code, message] of cases) {
    const ended = await run(...args)
    assert.equal(ended.code, code, ended.err)
    assert.match(ended.err, message)
    assert.equal(ended.err.trim().split('\n').length, 1)
  }
})

test('--path imports one company of a folder with several companies', async (t) => {
  const commands = await withCommands(t)
  const run = (...args: string[]) => commands.run('company', 'import', ...args, '--no-fetch')
  const folder = temporaryFolder(t)
  for (const name of ['agentsys-engineering', 'gstack'])
    cpSync(path.join(PACKAGES, name), path.join(folder, name), { recursive: true })
  const several = await run(folder, '--yes')
  assert.equal(several.code, 2)
  assert.match(several.err, /2 companies\. Choose one: --path agentsys-engineering, --path gstack\./)
  const listed = await run(folder, '--yes', '--json')
  assert.deepEqual(JSON.parse(listed.out).companies[1].path, 'gstack')
  const chosen = await run(folder, '--path', 'gstack', '--yes')
  assert.match(chosen.out, /Done\. GStack \(GST\) has id/)
  assert.match((await run(folder, '--path', 'nowhere', '--yes')).err, /no files below nowhere/)
})
