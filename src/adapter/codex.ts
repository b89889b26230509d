import path from 'node:path'
import * as v from 'valibot'
import type { Adapter, UserFiles } from './adapter.ts'
import { codexReader } from './codex-reader.ts'
import { codexHome } from './codex-session-file.ts'
import { configOf, defaultTrue, localEntries, serviceMcp } from './config.ts'
import { McpServers, mcpArgumentsOfCodex } from './mcp.ts'
import { resolved } from './secrets.ts'

const BYPASS = '--dangerously-bypass-approvals-and-sandbox'

const CodexConfig = configOf({
  ...localEntries('codex', ['exec', 'resume', '-', '--json', BYPASS]),
  serviceMcp,
  mcpServers: v.optional(
    v.pipe(
      McpServers,
      v.description(
        'MCP servers of the runs, in addition to those in the program\'s own settings. Each name maps to { command, args, env } or to { url, headers }. A value of env or headers is a text or {"$secret": "NAME"}; the program receives it as an environment variable.',
      ),
    ),
    {},
  ),
  dangerouslyBypassApprovalsAndSandbox: defaultTrue(
    'Whether the program works without approvals and outside its own sandbox. On by default, because a run is unattended and that sandbox blocks the network, including this API. If it is off, choose another setting with extraArgs (such as -c sandbox_workspace_write.network_access=true with --sandbox workspace-write).',
  ),
})

export type CodexConfig = v.InferOutput<typeof CodexConfig>

/**
 * Runs `codex exec --json`: the prompt on standard input, one JSON event per
 * line on standard output, and threads that are resumed by their id, which only
 * the program can assign.
 */
export const codex: Adapter<CodexConfig> = {
  type: 'runtimeB_local',
  summary: 'Runs the codex command line program on this machine, with the login of the user who started the service.',
  config: CodexConfig,
  instructionsKey: 'instructionsFilePath',
  instructions: 'prompt',
  defaultCommand: 'codex',
  skipsPermissionsKey: 'dangerouslyBypassApprovalsAndSandbox',
  installHint: 'Install it with: npm install -g @openai/codex. Then run codex once to log in.',
  helpArgs: ['exec', '--help'],
  metering: 'live',
  startsProgram: true,
  userFiles,
  resumes: true,
  command: (config, run) => ({
    command: config.command,
    args: [
      ...['exec', '--json', '--skip-git-repo-check'],
      ...(config.dangerouslyBypassApprovalsAndSandbox ? [BYPASS] : []),
      ...(config.model ? ['-m', config.model] : []),
      ...mcpArgumentsOfCodex(config.mcpServers).args,
      ...config.extraArgs,
      ...(run.session ? ['resume', run.session.id] : []),
      '-',
    ],
    env: { ...resolved(config.env), ...mcpArgumentsOfCodex(config.mcpServers).env },
    stdin: run.prompt,
  }),
  reader: codexReader,
}

function userFiles(env: Readonly<Record<string, string>>): UserFiles {
  const home = codexHome(env) ?? '/nonexistent'
  return { login: [path.join(home, 'auth.json')], sessions: [path.join(home, 'sessions')] }
}
