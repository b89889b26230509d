import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as v from 'valibot'
import type { RunInput } from '../../src/adapter/adapter.ts'
import { adapterOf } from '../../src/adapter/registry.ts'

const run: RunInput = {
  runId: 'run-1',
  agentId: 'agent-1',
  cwd: '/work',
  prompt: 'the prompt',
  instructionsFile: null,
  skillsDir: null,
  session: null,
  newSessionId: '11111111-1111-4111-8111-111111111111',
  flags: null,
  wake: { companyId: 'company-1', reasons: ['timer'], issueId: null, commentId: null, approvalId: null, causes: [] },
  variables: { SERVICE_API_URL: 'http://127.0.0.1:3100', SERVICE_API_KEY: 'run-token', SERVICE_RUN_ID: 'run-1' },
  postProgram: ['/usr/bin/node', '/app/post.mjs'],
}
const session = { id: 'session-1', totals: {} }

/** Builds the command for a configuration as a user writes it. */
function commandOf(type: string, config: Record<string, unknown>, changes: Partial<RunInput> = {}) {
  const adapter = adapterOf(type)!
  return adapter.command(v.parse(adapter.config, config), { ...run, ...changes })
}

const A = ['-p', '-', '--output-format', 'stream-json', '--verbose']
const A_FRESH = [...A, '--session-id', run.newSessionId]
const SKIP = '--dangerously-skip-permissions'
const B = ['exec', '--json', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox']

const MCP_SERVERS = {
  tides: { command: 'tides', args: ['--high'], env: { KEY: 'a b"$c' } },
  plain: { command: 'plain' },
  maps: { url: 'https://maps.example/mcp', headers: { Authorization: 'Bearer x' } },
}
const CLAUDE_MCP = {
  mcpServers: {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the program expands it
    tides: { type: 'stdio', command: 'tides', args: ['--high'], env: { KEY: '${SERVICE_MCP_1}' } },
    plain: { type: 'stdio', command: 'plain', args: [], env: {} },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the program expands it
    maps: { type: 'http', url: 'https://maps.example/mcp', headers: { Authorization: '${SERVICE_MCP_2}' } },
  },
}
const TIDES = String.raw`args=["-c","KEY=\"$SERVICE_MCP_1\" exec \"$@\"","sh","tides","--high"]`
const CODEX_MCP = [
  '-c',
  `mcp_servers.tides={command="/bin/sh",${TIDES},env_vars=["SERVICE_MCP_1"]}`,
  '-c',
  'mcp_servers.plain={command="plain",args=[]}',
  '-c',
  'mcp_servers.maps={url="https://maps.example/mcp",env_http_headers={"Authorization"="SERVICE_MCP_2"}}',
]

const G = ['--output-format', 'stream-json', '--skip-trust']
const O = ['run', '--format', 'json', '--print-logs', '--log-level', 'ERROR']

const lines: [
  title: string,
  type: string,
  config: Record<string, unknown>,
  changes: Partial<RunInput>,
  args: string[],
][] = [
  ['claude starts a new session with a preset session id', 'runtimeA_local', {}, {}, [...A_FRESH, SKIP]],
  ['claude resumes a session', 'runtimeA_local', {}, { session }, [...A, '--resume', 'session-1', SKIP]],
  [
    'claude has the model, the turn limit and extra arguments, unchanged and last',
    'runtimeA_local',
    { model: 'opus', maxTurns: 7, extraArgs: ['--add-dir', '/a b; rm -rf $HOME'] },
    {},
    [...A_FRESH, '--model', 'opus', '--max-turns', '7', SKIP, '--add-dir', '/a b; rm -rf $HOME'],
  ],
  [
    'gemini starts a new session with a preset session id',
    'gemini_local',
    {},
    {},
    [...G, '--yolo', '--session-id', run.newSessionId],
  ],
  [
    'gemini resumes a session, and runs without --yolo if the configuration says so',
    'gemini_local',
    { yolo: false, model: 'gemini-2.5-pro', extraArgs: ['--debug'] },
    { session },
    [...G, '--resume', 'session-1', '--model', 'gemini-2.5-pro', '--debug'],
  ],
  [
    'opencode has the model and resumes a session',
    'opencode_local',
    { model: 'anthropic/claude-sonnet-5' },
    { session },
    [...O, '--auto', '--model', 'anthropic/claude-sonnet-5', '--session', 'session-1'],
  ],
  [
    'opencode starts a new session, which it need not name',
    'opencode_local',
    { autoApprove: false },
    {},
    [...O, `--title=Run ${run.runId}`],
  ],
  [
    'claude loads the skills of the agent as a plugin folder',
    'runtimeA_local',
    {},
    { skillsDir: '/data/skills/1' },
    [...A_FRESH, '--plugin-dir=/data/skills/1', SKIP],
  ],
  [
    'claude has the MCP servers, with secret values as environment variables',
    'runtimeA_local',
    { mcpServers: MCP_SERVERS },
    {},
    [...A_FRESH, `--mcp-config=${JSON.stringify(CLAUDE_MCP)}`, SKIP],
  ],
  [
    'codex has the MCP servers, with secret values as environment variables',
    'runtimeB_local',
    { mcpServers: MCP_SERVERS },
    {},
    [...B, ...CODEX_MCP, '-'],
  ],
  [
    'claude keeps permission prompts if the configuration says so',
    'runtimeA_local',
    { dangerouslySkipPermissions: false },
    {},
    A_FRESH,
  ],
  [
    'claude has its instructions in a file',
    'runtimeA_local',
    {},
    { instructionsFile: '/repo/AGENTS.md' },
    [...A_FRESH, '--append-system-prompt-file', '/repo/AGENTS.md', SKIP],
  ],
  [
    'claude reads changed instructions on resume if it supports the option',
    'runtimeA_local',
    {},
    { session, instructionsFile: '/repo/AGENTS.md', flags: new Set(['--system-prompt-snapshot']) },
    [
      ...A,
      '--resume',
      'session-1',
      '--append-system-prompt-file',
      '/repo/AGENTS.md',
      '--system-prompt-snapshot',
      'off',
      SKIP,
    ],
  ],
  [
    'claude has no --session-id if it does not support the option',
    'runtimeA_local',
    {},
    { flags: new Set(['--resume']) },
    [...A, SKIP],
  ],
  ['codex starts a new thread', 'runtimeB_local', {}, {}, [...B, '-']],
  ['codex resumes a thread, after all options', 'runtimeB_local', {}, { session }, [...B, 'resume', 'session-1', '-']],
  [
    'codex has the model and extra arguments, and ignores the turn limit',
    'runtimeB_local',
    { model: 'gpt-5', maxTurns: 7, extraArgs: ['-c', 'model_reasoning_effort="high"'] },
    { session },
    [...B, '-m', 'gpt-5', '-c', 'model_reasoning_effort="high"', 'resume', 'session-1', '-'],
  ],
  [
    'codex keeps its sandbox if the configuration says so',
    'runtimeB_local',
    { dangerouslyBypassApprovalsAndSandbox: false },
    {},
    ['exec', '--json', '--skip-git-repo-check', '-'],
  ],
  ['a process has the configured arguments', 'process', { command: 'make', args: ['-j', '2'] }, {}, ['-j', '2']],
]

describe('the command of a run', () => {
  for (const [title, type, config, changes, args] of lines) {
    test(title, () => {
      const command = commandOf(type, config, changes)
      assert.deepEqual(command.args, args)
      assert.equal(command.stdin, 'the prompt')
    })
  }

  test('the default programs are claude and codex', () => {
    assert.equal(commandOf('runtimeA_local', {}).command, 'claude')
    assert.equal(commandOf('runtimeB_local', {}).command, 'codex')
    assert.equal(commandOf('runtimeA_local', { command: '/opt/agent' }).command, '/opt/agent')
  })

  test('only root needs IS_SANDBOX, and the configuration overrides it', () => {
    const asRoot = process.getuid?.() === 0 ? { IS_SANDBOX: '1' } : {}
    assert.deepEqual(commandOf('runtimeA_local', { env: { A: 'b' } }).env, { ...asRoot, A: 'b' })
    assert.deepEqual(commandOf('runtimeA_local', { env: { IS_SANDBOX: '0' } }).env, { IS_SANDBOX: '0' })
    assert.deepEqual(commandOf('runtimeA_local', { dangerouslySkipPermissions: false }).env, {})
  })

  test('an unresolved secret is never passed to a program', () => {
    const config = { command: 'make', env: { TOKEN: { $secret: 'GITHUB' } } }
    assert.throws(() => commandOf('process', config), /The secret GITHUB of TOKEN was not resolved/)
  })

  test('an http adapter runs the POST program, with the wake on standard input', () => {
    const { command, args, env, stdin } = commandOf('http', {
      url: 'https://agent.example/wake',
      headers: { 'x-key': 'k' },
    })
    assert.deepEqual([command, args, env], ['/usr/bin/node', ['/app/post.mjs'], {}])
    assert.deepEqual(JSON.parse(stdin), {
      url: 'https://agent.example/wake',
      headers: { 'x-key': 'k' },
      body: { runId: 'run-1', agentId: 'agent-1', ...run.wake, prompt: 'the prompt', env: run.variables },
      timeoutSec: 30,
    })
  })

  test('a POST sends the token, the URL and the run id in the body, in headers, or not at all', () => {
    const job = (credentials: string) =>
      JSON.parse(commandOf('http', { url: 'https://agent.example/wake', headers: { 'x-key': 'k' }, credentials }).stdin)
    const { headers, body } = job('header')
    assert.deepEqual(headers, {
      'x-service-api-url': 'http://127.0.0.1:3100',
      'x-service-api-key': 'run-token',
      'x-service-run-id': 'run-1',
      'x-key': 'k',
    })
    assert.equal(body.env, undefined)
    assert.ok(!JSON.stringify(job('none')).includes('run-token'))
    assert.throws(() => job('query'), /It must be body, header or none/)
  })
})

test('the secret values of MCP servers are only in the environment of the run', () => {
  for (const type of ['runtimeA_local', 'runtimeB_local']) {
    const { env, args } = commandOf(type, { mcpServers: MCP_SERVERS })
    assert.deepEqual([env.SERVICE_MCP_1, env.SERVICE_MCP_2], ['a b"$c', 'Bearer x'])
    assert.ok(!args.join(' ').includes('Bearer x'))
  }
})
