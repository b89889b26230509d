import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import type { Command } from 'commander'
import { commandsOf } from '../../../src/clients/cli/commands.ts'
import { createClient } from '../../../src/clients/connection/client.ts'
import { packageRoot } from '../../../src/platform/package-root.ts'
import { temporaryFolder } from '../../helpers.ts'
import { startTestServer } from '../../server.ts'
import { environment, LAUNCHER } from './service.ts'

/** Commands whose examples need another machine, mode or terminal; other tests run them. */
const ELSEWHERE =
  /^(start|demo|stop|doctor|verify|logs|backup|restore|mcp|completion|login|logout|reset-password|token|member|invite|profile use|company new|template)\b/

/** What must happen before an example, by its beginning. */
const BEFORE: Record<string, string> = {
  'approval resubmit': 'approval request-revision latest',
  'agent resume': 'agent pause Kit',
  'issue answer': 'issue ask TER-6 "Which datum?" --kind question',
  'company import': 'company export TER --out tern.zip --yes',
  'wait TER-6': 'issue view TER-6',
}

test('every example of the help texts runs', { timeout: 550_000 }, async (t) => {
  const examples = (await Promise.all(commandsOf(() => assert.fail()).map(({ load }) => load()))).flatMap(examplesOf)
  assert.ok(examples.length > 100, String(examples.length))
  const todo = [...new Set(examples)].filter((example) => !ELSEWHERE.test(example))
  const failed: string[] = []
  const work = async () => {
    for (let example = todo.shift(); example !== undefined; example = todo.shift()) {
      const error = await run(t, example)
      if (error !== undefined) failed.push(`${example}\n    ${error}`)
    }
  }
  await Promise.all([work(), work(), work()])
  assert.deepEqual(failed, [])
})

/** The lines after `$ service ` in the help texts of a command and of its verbs. */
function examplesOf(command: Command): string[] {
  let help = ''
  command
    .configureOutput({
      writeOut: (part) => {
        help += part
      },
    })
    .outputHelp()
  const own = [...help.matchAll(/^ {2}\$ service (.+)$/gm)].map(([, line]) => line!)
  return [...own, ...command.commands.flatMap(examplesOf)]
}

/** Runs an example against a server of its own. @returns its error */
async function run(t: TestContext, example: string): Promise<string | undefined> {
  const { server } = await startTestServer(t)
  const folder = temporaryFolder(t)
  await arrange(server.url, folder)
  const before = Object.entries(BEFORE).find(([beginning]) => example.startsWith(beginning))?.[1]
  const program = `service() { '${process.execPath}' '${LAUNCHER}' "$@"; }`
  const script = [program, ...(before === undefined ? [] : [`service ${before} > before.txt`]), `service ${example}`]
  const child = spawn('sh', ['-e', '-c', script.join('\n')], {
    cwd: folder,
    env: environment({ SERVICE_API_URL: server.url, XDG_CONFIG_HOME: folder, BROWSER: 'true' }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.on('exit', resolve)),
  ])
  await server.close()
  return code === 0 ? undefined : `${code}: ${err || out}`
}

/** Creates the company, and the files, that the examples name. */
async function arrange(url: string, folder: string): Promise<void> {
  const client = createClient({ url })
  const { id: companyId } = await client.request('POST /api/companies', { body: { name: 'Tern & Co' } })
  const params = { companyId }
  const adapterType = 'process' as const
  const adapterConfig = { command: process.execPath, args: ['-e', 'console.log("It is drawn.")'] }
  const body = { adapterType, adapterConfig }
  const ada = await client.request('POST /api/companies/:companyId/agents', {
    params,
    body: { ...body, name: 'Ada', role: 'ceo' },
  })
  const kit = await client.request('POST /api/companies/:companyId/agents', {
    params,
    body: { ...body, name: 'Kit', reportsTo: ada.id },
  })
  await client.request('POST /api/agents/:agentId/keys', { params: { agentId: kit.id }, body: { name: 'laptop' } })
  for (const title of ['Launch the tide table', 'Sell maps'])
    await client.request('POST /api/companies/:companyId/goals', { params, body: { title } })
  await client.request('POST /api/companies/:companyId/projects', {
    params,
    body: { name: 'Tide table', workspace: { name: 'Main', cwd: folder } },
  })
  await client.request('POST /api/companies/:companyId/projects', { params, body: { name: 'Attic' } })
  for (let number = 1; number <= 6; number++) {
    await client.request('POST /api/companies/:companyId/issues', {
      params,
      body: {
        title: `Part ${number} of the tide table`,
        status: number === 1 ? 'done' : number === 6 ? 'todo' : 'backlog',
      },
    })
  }
  await client.request('POST /api/companies/:companyId/labels', { params, body: { name: 'bug' } })
  await client.request('POST /api/companies/:companyId/secrets', {
    params,
    body: { name: 'DEPLOY_KEY', value: 'tide-tide-tide' },
  })
  const skill = '---\nname: weekly-report\ndescription: How to write the weekly report.\n---\n\nThree lines.\n'
  await client.request('POST /api/companies/:companyId/skills/import', {
    params,
    body: { files: { 'SKILL.md': skill } },
  })
  await client.request('POST /api/companies/:companyId/routines', {
    params,
    body: { title: 'Sweep the floor', assigneeAgentId: kit.id, intervalSec: 86_400 },
  })
  const asked = { requestedByAgentId: ada.id, payload: { title: 'Buy the domain?' } }
  await client.request('POST /api/companies/:companyId/approvals', {
    params,
    body: { ...asked, type: 'request_board_approval' },
  })
  await client.request('PUT /api/issues/:issueId/documents/:key', {
    params: { issueId: 'TER-6', key: 'plan' },
    body: { body: '# Plan\n' },
  })
  const form = new FormData()
  form.append('file', new Blob(['high,low\n'], { type: 'text/csv' }), 'tides.csv')
  await fetch(`${url}/api/issues/TER-6/attachments`, { method: 'POST', body: form })
  await client.request('POST /api/agents/:agentId/wakeup', { params: { agentId: kit.id } })
  for (;;) {
    const runs = await client.request('GET /api/companies/:companyId/runs', { params })
    if (runs[0]?.status === 'succeeded') break
  }
  writeFileSync(path.join(folder, 'data.md'), 'Tides of the harbour.\n')
  writeFileSync(path.join(folder, 'token.txt'), 'a-long-secret-value\n')
  writeFileSync(path.join(folder, 'change.json'), '{"priority":"high"}\n')
  mkdirSync(path.join(folder, 'skills/tide-tables'), { recursive: true })
  writeFileSync(path.join(folder, 'skills/tide-tables/SKILL.md'), skill.replaceAll('weekly-report', 'tide-tables'))
  cpSync(path.join(packageRoot(), 'templates/software-team'), path.join(folder, 'package'), { recursive: true })
}
