import path from 'node:path'
import * as v from 'valibot'
import type { Adapter, RunInput, UserFiles } from './adapter.ts'
import { claudeReader } from './claude-reader.ts'
import { configOf, defaultTrue, localEntries, serviceMcp } from './config.ts'
import { McpServers, mcpArgumentsOfClaude } from './mcp.ts'
import { resolved } from './secrets.ts'

const ClaudeConfig = configOf({
  ...localEntries('claude', [
    '-p',
    '--print',
    '--input-format',
    '--output-format',
    '--include-partial-messages',
    '-r',
    '--resume',
    '-c',
    '--continue',
    '--fork-session',
    '--session-id',
    '--dangerously-skip-permissions',
  ]),
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
  dangerouslySkipPermissions: defaultTrue(
    'Whether the program works without permission prompts. On by default, because a run is unattended: the program would refuse every action that needs permission, including calls to this API. If it is off, allow the necessary tools with extraArgs (--allowedTools ...) or in the settings of the program. For root, the program accepts this option only in a sandbox, so the service sets IS_SANDBOX=1 unless env sets it.',
  ),
})

/** The option for partial messages. Only they contain the final output tokens of a message. */
const PARTIAL = '--include-partial-messages'

/** The option that loads the folder of an agent's skills as a plugin for the run. */
const PLUGIN = '--plugin-dir'

export type ClaudeConfig = v.InferOutput<typeof ClaudeConfig>

/**
 * Runs `claude` in print mode: the prompt on standard input, one JSON object per
 * line on standard output, and sessions that are resumed by their id.
 */
export const claude: Adapter<ClaudeConfig> = {
  type: 'runtimeA_local',
  summary: 'Runs the claude command line program on this machine, with the login of the user who started the service.',
  config: ClaudeConfig,
  instructionsKey: 'instructionsFilePath',
  instructions: 'file',
  defaultCommand: 'claude',
  skipsPermissionsKey: 'dangerouslySkipPermissions',
  installHint: 'Install it with: npm install -g @anthropic-ai/claude-code. Then run claude once to log in.',
  helpArgs: ['--help'],
  endsWithResult: true,
  metering: 'live',
  skillsOption: PLUGIN,
  startsProgram: true,
  userFiles,
  resumes: true,
  command: (config, run) => ({
    command: config.command,
    args: [
      ...['-p', '-', '--output-format', 'stream-json', '--verbose'],
      ...(run.flags?.has(PARTIAL) ? [PARTIAL] : []),
      ...sessionArgs(run),
      ...instructionArgs(run),
      ...(run.skillsDir ? [`${PLUGIN}=${run.skillsDir}`] : []),
      ...mcpArgumentsOfClaude(config.mcpServers).args,
      ...(config.model ? ['--model', config.model] : []),
      ...(config.maxTurns ? ['--max-turns', String(config.maxTurns)] : []),
      ...(config.dangerouslySkipPermissions ? ['--dangerously-skip-permissions'] : []),
      ...config.extraArgs,
    ],
    env: {
      ...(config.dangerouslySkipPermissions && process.getuid?.() === 0 ? { IS_SANDBOX: '1' } : {}),
      ...resolved(config.env),
      ...mcpArgumentsOfClaude(config.mcpServers).env,
    },
    stdin: run.prompt,
  }),
  reader: claudeReader,
}

function userFiles(env: Readonly<Record<string, string>>): UserFiles {
  const home = env.HOME ?? '/nonexistent'
  const folder = env.CLAUDE_CONFIG_DIR || path.join(home, '.claude')
  return {
    login: [path.join(folder, '.credentials.json')],
    settings: [path.join(env.CLAUDE_CONFIG_DIR || home, '.claude.json')],
    sessions: [path.join(folder, 'projects')],
  }
}

/** Returns the arguments of the session. The id of a new session is set in advance, so it can be resumed even after a crash. */
function sessionArgs({ session, newSessionId, flags }: RunInput): string[] {
  if (session) return ['--resume', session.id]
  return canUse(flags, '--session-id') ? ['--session-id', newSessionId] : []
}

function instructionArgs({ instructionsFile, flags }: RunInput): string[] {
  if (!instructionsFile) return []
  // A resumed session uses its recorded instructions, unless this option turns that off.
  const snapshot = flags?.has('--system-prompt-snapshot') ? ['--system-prompt-snapshot', 'off'] : []
  return ['--append-system-prompt-file', instructionsFile, ...snapshot]
}

/** Whether the program has an option. If its options are unknown, the basic ones are assumed. */
const canUse = (flags: ReadonlySet<string> | null, flag: string): boolean => flags === null || flags.has(flag)
