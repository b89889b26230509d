import path from 'node:path'
import { findProgram } from '../../src/runtime/process/capabilities.ts'

/** An agent program, and its configuration for a mock model. */
export interface Program {
  name: 'claude' | 'codex'
  adapterType: string
  /** The folder of its sessions, relative to its home. */
  sessions: string
  config(modelUrl: string): { extraArgs?: string[]; env: Record<string, string> }
}

const PROGRAMS: Program[] = [
  {
    name: 'claude',
    adapterType: 'runtimeA_local',
    sessions: '.claude/projects',
    config: (url) => ({ env: { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'sk-stand-in' } }),
  },
  {
    name: 'codex',
    adapterType: 'runtimeB_local',
    sessions: '.codex/sessions',
    config: (url) => ({
      extraArgs: Object.entries({
        model_provider: 'stand_in',
        'model_providers.stand_in.name': 'stand-in',
        'model_providers.stand_in.base_url': `${url}/v1`,
        'model_providers.stand_in.wire_api': 'responses',
        'model_providers.stand_in.env_key': 'STAND_IN_KEY',
      }).flatMap(([key, value]) => ['-c', `${key}=${JSON.stringify(value)}`]),
      env: { STAND_IN_KEY: 'sk-stand-in' },
    }),
  },
]

/** Lists the programs that are installed, with the path of each: one of `given`, else along the PATH. */
export const installedPrograms = (given: readonly string[]): { program: Program; command: string | null }[] =>
  PROGRAMS.map((program) => {
    const command =
      given.find((file) => path.basename(file) === program.name) ?? findProgram(program.name, process.env.PATH ?? '')
    return { program, command: command && path.resolve(command) }
  })
