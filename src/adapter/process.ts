import path from 'node:path'
import type * as v from 'valibot'
import type { Adapter } from './adapter.ts'
import { configOf, programEntries } from './config.ts'
import { silentReader } from './readers.ts'
import { resolved } from './secrets.ts'

const ProcessConfig = configOf(programEntries)

export type ProcessConfig = v.InferOutput<typeof ProcessConfig>

const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'fish', 'pwsh', 'powershell', 'cmd'])

/**
 * Returns a warning about a shell without arguments, or undefined. A shell
 * executes its standard input, which is the prompt.
 */
export function shellWarning(type: string, { command, args }: Record<string, unknown>): string | undefined {
  const hasArguments = Array.isArray(args) && args.length > 0
  if (type !== 'process' || typeof command !== 'string' || hasArguments) return undefined
  const name = path.basename(command).replace(/\.exe$/i, '')
  if (!SHELLS.has(name.toLowerCase())) return undefined
  return `The program is the shell ${name} without arguments, which would execute the text of the prompt as commands. Set args.`
}

/**
 * Runs any program. Its exit code is the outcome, and its output is the run's
 * log. It receives the prompt on standard input, which it may ignore.
 */
export const processAdapter: Adapter<ProcessConfig> = {
  type: 'process',
  summary:
    'Runs any program on this machine. Exit code 0 is success; the program finds its task in the SERVICE_ variables.',
  config: ProcessConfig,
  instructionsKey: null,
  instructions: 'none',
  skipsPermissionsKey: null,
  installHint: null,
  helpArgs: null,
  metering: 'none',
  startsProgram: true,
  resumes: false,
  command: (config, run) => ({
    command: config.command,
    args: config.args,
    env: resolved(config.env),
    stdin: run.prompt,
  }),
  reader: () => silentReader,
}
