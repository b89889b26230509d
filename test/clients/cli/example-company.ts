import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createClient } from '../../../src/clients/connection/client.ts'
import { packageRoot } from '../../../src/platform/package-root.ts'

/** Creates the company, and the files in a folder, that the examples of the help texts and the documentation name. */
export async function arrange(url: string, folder: string): Promise<void> {
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
  for (const name of ['gpu', 'attic']) {
    await client.request('POST /api/placements', { body: { name, type: 'ssh', settings: { host: 'gpu.example.org' } } })
  }
  await client.request('POST /api/companies/:companyId/webhooks', {
    params,
    body: { url: 'https://ci.example.com/hooks/service' },
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
  const requested = { requestedByAgentId: ada.id, payload: { title: 'Buy the domain?' } }
  await client.request('POST /api/companies/:companyId/approvals', {
    params,
    body: { ...requested, type: 'request_board_approval' },
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
