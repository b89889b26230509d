import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { createTestApp, temporaryFolder } from '../helpers.ts'

/** Writes the OpenAPI document to a folder, and returns a function that runs a program of an npm package there. */
async function arrange(t: TestContext) {
  const { request } = createTestApp(t)
  const folder = temporaryFolder(t)
  writeFileSync(path.join(folder, 'openapi.json'), JSON.stringify((await request('GET', '/api/openapi.json')).body))
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }')
  const run = (program: string, ...args: string[]): string => {
    try {
      return execFileSync(program, args, { cwd: folder, encoding: 'utf8', stdio: 'pipe', timeout: 240_000 })
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string }
      assert.fail(`${program} ${args.join(' ')}\n${stdout}${stderr}`)
    }
  }
  return { folder, run }
}

test('the OpenAPI document has no errors and no warnings under the recommended rules of redocly', async (t) => {
  const { run } = await arrange(t)
  const report = run(
    'npx',
    '--yes',
    '@redocly/cli@2.77.0',
    'lint',
    'openapi.json',
    '--extends=recommended',
    '--format=json',
  )
  assert.deepEqual(JSON.parse(report).totals, { errors: 0, warnings: 0, ignored: 0 })
})

test('the OpenAPI document has no errors and no warnings under the rules of spectral', async (t) => {
  const { folder, run } = await arrange(t)
  writeFileSync(path.join(folder, '.spectral.yaml'), 'extends: ["spectral:oas"]\n')
  const lint = ['lint', 'openapi.json', '--fail-severity=hint', '--format=json', '--quiet']
  const report = run('npx', '--yes', '@stoplight/spectral-cli@6.16.3', ...lint)
  assert.deepEqual(JSON.parse(report), [])
})

const PROGRAM = `import createClient from 'openapi-fetch'
import type { paths } from './api.ts'
const client = createClient<paths>({ baseUrl: 'http://127.0.0.1:1' })
export async function createIssue(companyId: string): Promise<string> {
  const path = { companyId }
  const agent = await client.POST('/api/companies/{companyId}/agents', { params: { path }, body: { name: 'Ada' } })
  if (!agent.data) throw new Error(agent.error.code)
  const body = { title: 'Count', assigneeAgentId: agent.data.id, workMode: 'standard' } as const
  const { data } = await client.POST('/api/companies/{companyId}/issues', { params: { path }, body })
  return \`\${data?.identifier} \${data?.status satisfies 'todo' | 'done' | string | undefined}\`
}
`

const TSCONFIG = {
  compilerOptions: {
    ...{ strict: true, noUncheckedIndexedAccess: true, noEmit: true, allowImportingTsExtensions: true, types: [] },
    ...{ module: 'nodenext', target: 'es2023', lib: ['es2023', 'dom', 'dom.iterable'] },
  },
  files: ['program.ts'],
}

test('two generators write clients that compile in strict mode', async (t) => {
  const { folder, run } = await arrange(t)
  const packages = [
    'openapi-typescript@7.13.0',
    'openapi-fetch@0.17.0',
    '@hey-api/openapi-ts@0.99.0',
    'typescript@5.9.3',
  ]
  run('npm', 'install', '--no-audit', '--no-fund', ...packages)
  run('npx', 'openapi-typescript', 'openapi.json', '-o', 'api.ts', '--default-non-nullable', 'false')
  run('npx', 'openapi-ts', '-i', 'openapi.json', '-o', 'generated')
  writeFileSync(path.join(folder, 'program.ts'), PROGRAM)
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG))
  run('npx', 'tsc', '-p', 'tsconfig.json')
  const bundler = { ...TSCONFIG.compilerOptions, module: 'esnext', moduleResolution: 'bundler' }
  const generated = { compilerOptions: bundler, files: ['generated/index.ts'] }
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(generated))
  run('npx', 'tsc', '-p', 'tsconfig.json')
})
