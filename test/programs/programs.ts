import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { findProgram } from '../../src/runtime/process/capabilities.ts'

/** An agent program, and its configuration for a mock model. */
export interface Program {
  name: 'claude' | 'codex' | 'gemini' | 'opencode'
  adapterType: string
  /** The folder of its sessions, relative to its home. */
  sessions: string
  /** Whether it records the cost of a call only when the tools of the call have ended. */
  recordsAfterTools?: true
  /** Whether its adapter can give it MCP servers. */
  hasMcp?: true
  config(modelUrl: string): { extraArgs?: string[]; model?: string; env: Record<string, string> }
  /** The settings in its home, without which it does not use the mock model. */
  settings?: { file: string; content: object }
}

const PROGRAMS: Program[] = [
  {
    name: 'claude',
    adapterType: 'runtimeA_local',
    sessions: '.claude/projects',
    hasMcp: true,
    config: (url) => ({ env: { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'sk-stand-in' } }),
  },
  {
    name: 'codex',
    adapterType: 'runtimeB_local',
    sessions: '.codex/sessions',
    hasMcp: true,
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
  {
    name: 'gemini',
    adapterType: 'gemini_local',
    sessions: '.gemini/tmp',
    config: (url) => ({
      model: 'gemini-2.5-pro',
      env: { GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: 'sk-stand-in' },
    }),
    // With another URL, gemini 0.61 accepts the key only by this setting.
    settings: { file: '.gemini/settings.json', content: { security: { auth: { selectedType: 'gemini-api-key' } } } },
  },
  {
    name: 'opencode',
    adapterType: 'opencode_local',
    sessions: '.local/share/opencode',
    recordsAfterTools: true,
    config: (url) => ({
      model: 'anthropic/claude-sonnet-4-5',
      env: {
        OPENCODE_CONFIG_CONTENT: JSON.stringify({
          provider: { anthropic: { options: { baseURL: `${url}/v1`, apiKey: 'sk-stand-in' } } },
        }),
      },
    }),
  },
]

/** Creates the home of a program. */
export function makeHome(program: Program, home: string): void {
  mkdirSync(home)
  if (!program.settings) return
  const file = path.join(home, program.settings.file)
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, JSON.stringify(program.settings.content))
}

/** Lists the programs that are installed, with the path of each: one of `given`, else along the PATH. */
export const installedPrograms = (given: readonly string[]): { program: Program; command: string | null }[] =>
  PROGRAMS.map((program) => {
    const command =
      given.find((file) => path.basename(file) === program.name) ?? findProgram(program.name, process.env.PATH ?? '')
    return { program, command: command && path.resolve(command) }
  })
