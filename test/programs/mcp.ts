import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { serveModel } from './model.ts'
import { makeHome, type Program } from './programs.ts'
import { startServer, until } from './server.ts'

interface Report {
  print(line: string): void
  step(title: string, prove: () => Promise<void>): Promise<void>
}

/** Tests that a program finds the MCP server of the service in its run, and has the permissions of the run. */
export async function proveMcp(program: Program, command: string, { print, step }: Report): Promise<void> {
  print(`${program.name} (${command}), MCP`)
  const folder = mkdtempSync(path.join(tmpdir(), 'service-programs-'))
  const home = path.join(folder, 'home')
  makeHome(program, home)
  const steps = [
    { tool: 'checkout_issue', input: { issue: 'REA-1' } },
    { tool: 'update_issue', input: { issue: 'REA-1', status: 'done', comment: 'Done by a tool.' } },
  ]
  let calls = 0
  const model = await serveModel(({ hasTools }) => {
    const mcp = hasTools ? steps[calls++] : undefined
    return { block: mcp ? { mcp } : { text: 'It is done.' }, usage: { input: 1_200, cached: 300, output: 40 } }
  })
  const server = await startServer(path.join(folder, 'data'))
  try {
    await step('changes its issue by a tool of the MCP server that its run was given', async () => {
      const company = await server.request('POST', '/api/companies', { name: 'Real programs' })
      await server.request('PATCH', `/api/companies/${company.id}`, { runMcp: true })
      const { env, ...config } = program.config(model.url)
      const agent = await server.request('POST', `/api/companies/${company.id}/agents`, {
        name: program.name,
        adapterType: program.adapterType,
        adapterConfig: { command, ...config, env: { ...env, HOME: home }, graceSec: 5 },
      })
      const { id } = await server.request('POST', `/api/companies/${company.id}/issues`, {
        title: 'Do something',
        assigneeAgentId: agent.id,
      })
      await until(() => calls > steps.length)
      const [comment] = await server.request('GET', `/api/issues/${id}/comments`)
      assert.deepEqual([comment?.body, comment?.authorAgentId], ['Done by a tool.', agent.id])
      assert.equal((await server.request('GET', `/api/issues/${id}`)).status, 'done')
    })
  } finally {
    await server.stop()
    model.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
