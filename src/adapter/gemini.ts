import path from 'node:path'
import type { InferOutput } from 'valibot'
import type { Adapter, UserFiles } from './adapter.ts'
import { configOf, defaultTrue, localEntries } from './config.ts'
import { geminiReader } from './gemini-reader.ts'
import { resolved } from './secrets.ts'

const GeminiConfig = configOf({
  ...localEntries('gemini', [
    '-p',
    '--prompt',
    '-i',
    '--prompt-interactive',
    '-o',
    '--output-format',
    '-r',
    '--resume',
    '--session-id',
    '--session-file',
    '-y',
    '--yolo',
    '--skip-trust',
  ]),
  yolo: defaultTrue(
    'Whether the program works without permission prompts. On by default, because a run is unattended. If it is off, allow the necessary tools with extraArgs (--approval-mode ..., --policy ...).',
  ),
})

export type GeminiConfig = InferOutput<typeof GeminiConfig>

/**
 * Runs `gemini` in headless mode: the prompt on standard input, one JSON event
 * per line on standard output, and sessions that are resumed by their id.
 */
export const gemini: Adapter<GeminiConfig> = {
  type: 'gemini_local',
  summary: 'Runs the gemini command line program on this machine, with the login of the user who started the service.',
  config: GeminiConfig,
  instructionsKey: 'instructionsFilePath',
  instructions: 'prompt',
  defaultCommand: 'gemini',
  skipsPermissionsKey: 'yolo',
  installHint: 'Install it with: npm install -g @google/gemini-cli. Then run gemini once to log in.',
  helpArgs: ['--help'],
  endsWithResult: true,
  metering: 'live',
  startsProgram: true,
  userFiles,
  resumes: true,
  command: (config, run) => ({
    command: config.command,
    args: [
      ...['--output-format', 'stream-json', '--skip-trust'],
      ...(config.yolo ? ['--yolo'] : []),
      ...(run.session ? ['--resume', run.session.id] : ['--session-id', run.newSessionId]),
      ...(config.model ? ['--model', config.model] : []),
      ...config.extraArgs,
    ],
    env: resolved(config.env),
    stdin: run.prompt,
  }),
  reader: geminiReader,
}

function userFiles(env: Readonly<Record<string, string>>): UserFiles {
  const folder = path.join(env.GEMINI_CLI_HOME || env.HOME || '/nonexistent', '.gemini')
  const inFolder = (names: string[]) => names.map((name) => path.join(folder, name))
  return {
    login: inFolder(['oauth_creds.json', 'google_accounts.json', 'gemini-credentials.json']),
    settings: inFolder(['settings.json']),
    sessions: inFolder(['tmp']),
  }
}
