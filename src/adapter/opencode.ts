import path from 'node:path'
import type { InferOutput } from 'valibot'
import type { Adapter, UserFiles } from './adapter.ts'
import { configOf, defaultTrue, localEntries } from './config.ts'
import { opencodeReader } from './opencode-reader.ts'
import { resolved } from './secrets.ts'

const OpencodeConfig = configOf({
  ...localEntries('opencode', [
    'run',
    '--format',
    '-s',
    '--session',
    '-c',
    '--continue',
    '--fork',
    '--auto',
    '--attach',
    '--title',
    '--dir',
    '--print-logs',
    '--log-level',
  ]),
  autoApprove: defaultTrue(
    'Whether the program works without permission prompts. On by default, because a run is unattended. If it is off, allow the necessary tools in the settings of the program.',
  ),
})

export type OpencodeConfig = InferOutput<typeof OpencodeConfig>

/**
 * Runs `opencode run --format json`: the prompt on standard input, one JSON event
 * per line on standard output, and sessions that are resumed by their id, which
 * only the program can assign.
 */
export const opencode: Adapter<OpencodeConfig> = {
  type: 'opencode_local',
  summary: 'Runs the opencode command line program on this machine. Its models are named provider/model.',
  config: OpencodeConfig,
  instructionsKey: 'instructionsFilePath',
  instructions: 'prompt',
  defaultCommand: 'opencode',
  skipsPermissionsKey: 'autoApprove',
  installHint: 'Install it with: npm install -g opencode-ai. Then run opencode auth login.',
  helpArgs: ['run', '--help'],
  metering: 'live',
  startsProgram: true,
  userFiles,
  resumes: true,
  command: (config, run) => ({
    command: config.command,
    args: [
      // Without its log, the program is silent while it retries a request, for as long as the provider says.
      ...['run', '--format', 'json', '--print-logs', '--log-level', 'ERROR'],
      ...(config.autoApprove ? ['--auto'] : []),
      ...(config.model ? ['--model', config.model] : []),
      // Without a title, the program lets a model name a new session, and records the cost of that call nowhere.
      ...(run.session ? ['--session', run.session.id] : [`--title=Run ${run.runId}`]),
      ...config.extraArgs,
    ],
    env: resolved(config.env),
    stdin: run.prompt,
  }),
  reader: opencodeReader,
}

function userFiles(env: Readonly<Record<string, string>>): UserFiles {
  const data = path.join(env.HOME ?? '/nonexistent', '.local/share/opencode')
  return {
    login: [path.join(data, 'auth.json')],
    sessions: [path.join(data, 'storage')],
    // Otherwise its database is beside its sign-in. A relative path counts from `data`.
    variables: { OPENCODE_DB: 'storage/opencode.db' },
  }
}
