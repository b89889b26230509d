import assert from 'node:assert/strict'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { createTestRuns } from '../../runs.ts'

const MESSAGES = path.join(import.meta.dirname, '../../agents/tells.mjs')

/** Returns the arguments and the names of variables of a rehearsal that concern MCP. */
async function rehearse(
  t: TestContext,
  adapterType: string,
  settings: { instance?: boolean; company?: boolean | null; agent?: object },
) {
  const runs = await createTestRuns(t)
  runs.config.runMcp = settings.instance ?? false
  const at = `/api/companies/${runs.companyId}`
  if (settings.company !== undefined) await runs.make('PATCH', at, { runMcp: settings.company })
  const adapterConfig = { command: MESSAGES, ...settings.agent }
  const agent = await runs.make('POST', `${at}/agents`, { name: 'Kit', adapterType, adapterConfig })
  const { argv, environment } = await runs.make('POST', `/api/agents/${agent.id}/rehearse`)
  return {
    args: (argv as string[]).filter((arg) => /mcp/.test(arg)),
    names: (environment as string[]).filter((name) => name.startsWith('SERVICE_MCP_')),
  }
}

test('claude and codex get the MCP server of the service, with the run token in a variable', async (t) => {
  const claude = await rehearse(t, 'runtimeA_local', { instance: true })
  const { service } = JSON.parse(claude.args[0]!.replace('--mcp-config=', '')).mcpServers
  assert.deepEqual(
    [service.type, service.url.endsWith('/mcp'), service.headers],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the program expands it
    ['http', true, { Authorization: '${SERVICE_MCP_1}' }],
  )
  assert.deepEqual(claude.names, ['SERVICE_MCP_1'])
  const codex = await rehearse(t, 'runtimeB_local', { instance: true })
  assert.match(
    codex.args[0]!,
    /^mcp_servers\.service=\{url=".*\/mcp",env_http_headers=\{"Authorization"="SERVICE_MCP_1"\}\}$/,
  )
})

test('the setting of the agent overrides that of the company, which overrides that of the instance', async (t) => {
  const has = async (settings: Parameters<typeof rehearse>[2]) =>
    (await rehearse(t, 'runtimeA_local', settings)).args.length
  assert.equal(await has({}), 0)
  assert.equal(await has({ company: true }), 1)
  assert.equal(await has({ instance: true, company: false }), 0)
  assert.equal(await has({ instance: true, company: null }), 1)
  assert.equal(await has({ company: true, agent: { serviceMcp: false } }), 0)
  assert.equal(await has({ agent: { serviceMcp: true } }), 1)
})
