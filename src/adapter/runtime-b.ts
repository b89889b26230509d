import type { InferOutput } from 'valibot'
import type { Adapter } from './adapter.ts'
import { configOf, defaultTrue, localEntries } from './config.ts'
import { runtimeBReader } from './runtime-b-reader.ts'
import { resolved } from './secrets.ts'

const BYPASS = '--dangerously-bypass-approvals-and-sandbox'

const RuntimeBConfig = configOf({
  ...localEntries('codex', ['exec', 'resume', '-', '--json', BYPASS]),
  dangerouslyBypassApprovalsAndSandbox: defaultTrue(
    'Whether the program works without approvals and outside its sandbox. On by default: a run is unattended, and the sandbox keeps the agent from the network, this API included. Off, choose another setting by extraArgs (such as -c sandbox_workspace_write.network_access=true with --sandbox workspace-write).',
  ),
})

export type RuntimeBConfig = InferOutput<typeof RuntimeBConfig>

/**
 * Drives `codex exec --json`: the prompt on standard input, one JSON event a
 * line on standard output, and threads resumed by their id, which only the
 * program can give.
 */
export const runtimeB: Adapter<RuntimeBConfig> = {
  type: 'runtimeB_local',
  summary: 'Runs the codex command line program on this machine, with the login of the user who started the service.',
  config: RuntimeBConfig,
  instructionsKey: 'instructionsFilePath',
  instructions: 'prompt',
  defaultCommand: 'codex',
  skipsPermissionsKey: 'dangerouslyBypassApprovalsAndSandbox',
  installHint: 'Install it with: npm install -g @openai/codex. Then run codex once to log in.',
  helpArgs: ['exec', '--help'],
  metering: 'live',
  resumes: true,
  command: (config, run) => ({
    command: config.command,
    args: [
      ...['exec', '--json', '--skip-git-repo-check'],
      ...(config.dangerouslyBypassApprovalsAndSandbox ? [BYPASS] : []),
      ...(config.model ? ['-m', config.model] : []),
      ...config.extraArgs,
      ...(run.session ? ['resume', run.session.id] : []),
      '-',
    ],
    env: resolved(config.env),
    stdin: run.prompt,
  }),
  reader: runtimeBReader,
}
