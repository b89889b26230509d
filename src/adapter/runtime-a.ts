import path from 'node:path'
import * as v from 'valibot'
import type { Adapter, RunInput, UserFiles } from './adapter.ts'
import { configOf, defaultTrue, localEntries, serviceMcp } from './config.ts'
import { McpServers, mcpArgumentsOfClaude } from './mcp.ts'
import { runtimeAReader } from './runtime-a-reader.ts'
import { resolved } from './secrets.ts'

const RuntimeAConfig = configOf({
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
        'MCP servers for its runs, beside those of the program\'s own settings: NAME to { command, args, env } or to { url, headers }. Values of env and headers are a text or {"$secret": "NAME"}, and reach the program as variables.',
      ),
    ),
    {},
  ),
  dangerouslySkipPermissions: defaultTrue(
    'Whether the program works without asking for permission. On by default: a run is unattended, so whatever it would ask is refused, the calls to this API included. Off, allow what the agent needs by extraArgs (--allowedTools ...) or in the settings of the program. As root the program takes this only when told that it is in a sandbox: the service then sets IS_SANDBOX=1, unless env sets it.',
  ),
})

/** The lines of a message carry the output tokens of its start; only its parts tell the true count. */
const PARTIAL = '--include-partial-messages'

/** The folder of an agent's skills is a plugin, which the program loads for the run. */
const PLUGIN = '--plugin-dir'

export type RuntimeAConfig = v.InferOutput<typeof RuntimeAConfig>

/**
 * Drives `claude` in print mode: the prompt on standard input, one JSON
 * object a line on standard output, and sessions resumed by their id.
 */
export const runtimeA: Adapter<RuntimeAConfig> = {
  type: 'runtimeA_local',
  summary: 'Runs the claude command line program on this machine, with the login of the user who started the service.',
  config: RuntimeAConfig,
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
  reader: runtimeAReader,
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

/** The id of a fresh session is set beforehand, so that one whose run dies can still be resumed. */
function sessionArgs({ session, newSessionId, flags }: RunInput): string[] {
  if (session) return ['--resume', session.id]
  return canUse(flags, '--session-id') ? ['--session-id', newSessionId] : []
}

function instructionArgs({ instructionsFile, flags }: RunInput): string[] {
  if (!instructionsFile) return []
  // A resumed session keeps the recorded instructions unless the program can be told not to.
  const snapshot = flags?.has('--system-prompt-snapshot') ? ['--system-prompt-snapshot', 'off'] : []
  return ['--append-system-prompt-file', instructionsFile, ...snapshot]
}

/** Of an unknown program the base facts are believed. */
const canUse = (flags: ReadonlySet<string> | null, flag: string): boolean => flags === null || flags.has(flag)
