import type { GenericSchema } from 'valibot'

/**
 * What is known of one run when its command is built. Paths are absolute.
 */
export interface RunInput {
  runId: string
  agentId: string
  cwd: string
  /** The whole prompt: instructions, the heartbeat procedure, why the agent was woken and on what. */
  prompt: string
  /** The agent's own instructions file, already resolved, or null. */
  instructionsFile: string | null
  /** The folder of the agent's skills, if the program loads it by `skillsOption`; else null, and the prompt lists the skills. */
  skillsDir: string | null
  /** The session to resume, or null for a fresh one. */
  session: SessionState | null
  /** A fresh UUID that an adapter may preset as the session's id, so that a crash leaves a resumable session. */
  newSessionId: string
  /** The options that the program's help lists (see capabilities.ts), or null when unknown: then only the base facts hold. */
  flags: ReadonlySet<string> | null
  wake: Wake
  /** The variables `SERVICE_*` of the run: its token, the API URL, its id and why it runs. */
  variables: Readonly<Record<string, string>>
  /** How to start `post.ts`: the interpreter and its arguments. In the built package it is a file beside the main bundle. */
  postProgram: readonly [string, ...string[]]
}

/** What the agent was woken for, as the `http` adapter posts it. */
export interface Wake {
  companyId: string
  reasons: string[]
  issueId: string | null
  commentId: string | null
  approvalId: string | null
}

/** What is kept of a program's session between the runs of one agent on one issue. */
export interface SessionState {
  id: string
  /** The last cumulative figures that the program reported for this session, by model. */
  totals: Record<string, UsageTotals>
}

/** Tokens and cost. `inputTokens` are the ones that were not read from a cache. */
export interface UsageTotals {
  inputTokens: number
  cachedInputTokens: number
  outputTokens: number
  /** US dollars; null when the program does not say. */
  costUsd: number | null
}

/** A program to start. Never a shell: `args` reach the program as they are. */
export interface Command {
  command: string
  args: string[]
  env: Record<string, string>
  stdin: string
}

/**
 * What a run's output says, as it streams. Facts are snapshots: to apply one
 * twice is the same as once, so a reader or a server that starts over loses
 * and doubles nothing.
 */
export type Fact =
  /** The program works in this session. */
  | { kind: 'session'; id: string }
  /** This run's own use of one model so far (not the session's). Estimates are replaced by a later report. */
  | ({ kind: 'usage'; provider: string; model: string; costStatus: CostStatus } & UsageTotals)
  /** The session's cumulative figures, to be kept for its next run. */
  | { kind: 'totals'; totals: Record<string, UsageTotals> }
  /**
   * The file in which the program itself records the session's tokens. `offset` and `before` (the session's
   * totals) are those at the start of the run. If the reader dies, the file still tells what the run used.
   */
  | ({ kind: 'session_file' } & SessionFileStart)
  /** The last thing that the agent said, cut to 2,000 characters: the run's summary. */
  | { kind: 'text'; text: string }
  /** The session cannot be resumed: the program does not know it, or it is full. The next run starts a fresh one. */
  | { kind: 'dead_session' }
  /**
   * The provider refuses until a moment (ISO 8601, possibly past), or null when it does not say until when.
   * It matters only if the run fails: programs may go on after a refusal, on other credit.
   */
  | { kind: 'rate_limited'; until: string | null }
  /** The provider refused a request, and the program tries it again: "retrying 4 of 10: 529 overloaded"; null when it worked. */
  | { kind: 'retrying'; text: string | null }
  /** So many tool calls were refused to the agent. */
  | { kind: 'refused_tools'; count: number }
  /** The program would go on without a chance: it is to be ended, with the outcome that came before. */
  | { kind: 'give_up' }
  /** How the program itself says the run ended. `ok: false` makes the run fail, whatever the exit code. */
  | { kind: 'outcome'; ok: boolean; code: string | null; message: string | null }

export interface SessionFileStart {
  path: string
  offset: number
  before: UsageTotals
  model: string
  /** Whether the file is that of a sub-agent, which has a session of its own. */
  isSubagent?: boolean
}

export type CostStatus = 'reported' | 'estimated' | 'unpriced'

/**
 * When a program reports what a run uses: while the run lives, only at its end,
 * or never. Only live metering lets a budget stop a live run.
 */
export const METERINGS = ['live', 'at_end', 'none'] as const
export type Metering = (typeof METERINGS)[number]

/** Reads a program's standard output a line at a time; never throws, whatever the line. */
export interface OutputReader {
  line(text: string): Fact[]
  /** The program's standard error, a line at a time. */
  errorLine(text: string): Fact[]
  /**
   * Reads what the program wrote elsewhere since the last call. To be called a few times a second while the
   * run lives, and once after its end.
   */
  poll?(): Fact[]
  /** Whether a line of standard output is left out of the run's log: parts of what a later line says as a whole. */
  isNoise?(text: string): boolean
}

/** `env` is the program's whole environment. */
export type ReaderInput = Pick<RunInput, 'session' | 'newSessionId'> & { env?: Readonly<Record<string, string>> }

/** What a program keeps in the user's home. Paths are absolute. */
export interface UserFiles {
  /** The files of its sign-in, which it may renew. */
  login: readonly string[]
  /** Files that a sandboxed run gets a copy of, since what they say is run: MCP servers, hooks. Their names differ. */
  settings?: readonly string[]
  /** The folders of its sessions. Their names differ. */
  sessions: readonly string[]
  /** Variables of a sandboxed run, by which the program keeps its sessions in these folders. */
  variables?: Readonly<Record<string, string>>
}

/** Drives one kind of agent program. */
export interface Adapter<Config = Record<string, unknown>> {
  type: string
  /** One sentence for the configuration guide. */
  summary: string
  /** `adapterConfig`, strict: an unknown key is an error. Each key carries a description for the guide. */
  config: GenericSchema<unknown, Config>
  /** The `adapterConfig` key that holds the instructions path, or null when it has none. */
  instructionsKey: string | null
  /**
   * How the agent's instructions reach the program: as a file of its own
   * (`RunInput.instructionsFile`), inside the prompt, or not at all.
   */
  instructions: 'file' | 'prompt' | 'none'
  /** The program that runs when the configuration names none. */
  defaultCommand?: string
  /** The `adapterConfig` switch that lets the program skip its permission prompts, or null when it has none. */
  skipsPermissionsKey: string | null
  /** How to get the program when it is missing; null when there is nothing to install. */
  installHint: string | null
  /** The arguments that make the program list its options, or null when its options are of no interest. */
  helpArgs: readonly string[] | null
  /** Whether the program reports a result at the end of each run: without one it failed, whatever its exit code. */
  endsWithResult?: true
  metering: Metering
  /** The option by which the program loads a folder of skills as a plugin. */
  skillsOption?: string
  /** Whether it starts a program of the user, which can be sandboxed. */
  startsProgram: boolean
  /** What the program keeps in the user's home, by its environment: all that a sandboxed run gets of it. */
  userFiles?(env: Readonly<Record<string, string>>): UserFiles
  /** Whether the next run may continue the last one's session. */
  resumes: boolean
  /** `config` is a parsed one whose secrets are resolved (see secrets.ts). */
  command(config: Config, run: RunInput): Command
  reader(config: Config, run: ReaderInput): OutputReader
}
