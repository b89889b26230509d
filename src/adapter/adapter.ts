import type { GenericSchema } from 'valibot'

/** The inputs of one run from which an adapter builds its command. Paths are absolute. */
export interface RunInput {
  runId: string
  agentId: string
  cwd: string
  /** The whole prompt: instructions, the heartbeat procedure, the reasons of the wake and its issue. */
  prompt: string
  /** The agent's own instructions file, already resolved, or null. */
  instructionsFile: string | null
  /** The folder of the agent's skills, if the program loads it with `skillsOption`. Otherwise null: the prompt lists the skills. */
  skillsDir: string | null
  /** The session to resume, or null for a new one. */
  session: SessionState | null
  /** A UUID that an adapter may assign to a new session. The session can then be resumed after a crash. */
  newSessionId: string
  /** The options in the program's help (see capabilities.ts), or null if unknown. */
  flags: ReadonlySet<string> | null
  wake: Wake
  /** The variables `SERVICE_*` of the run: its token, the API URL, its id, and the reason and entities of its wake. */
  variables: Readonly<Record<string, string>>
  /** The interpreter and arguments that start `post.ts`, or its bundle in the built package. */
  postProgram: readonly [string, ...string[]]
}

/** The reasons and entities of a wake, as the `http` adapter posts them. */
export interface Wake {
  companyId: string
  reasons: string[]
  issueId: string | null
  commentId: string | null
  approvalId: string | null
  /** Every cause, oldest first. The ids above are those of the run's issue and of the latest approval. */
  causes: { source: string; issueId: string | null; commentId: string | null; approvalId: string | null }[]
}

/** The state of a program's session between the runs of one agent on one issue. */
export interface SessionState {
  id: string
  /** The cumulative usage of the session by model, as the program last reported it. */
  totals: Record<string, UsageTotals>
}

/** Tokens and cost. `inputTokens` excludes the tokens that were read from a cache. */
export interface UsageTotals {
  inputTokens: number
  cachedInputTokens: number
  outputTokens: number
  /** US dollars. Null if the program does not report it. */
  costUsd: number | null
}

/** A program to start. No shell is involved: the program receives `args` unchanged. */
export interface Command {
  command: string
  args: string[]
  env: Record<string, string>
  stdin: string
}

/**
 * A fact that a reader extracts from a run's output. Facts are snapshots:
 * applying one twice has the same effect as once, so a restarted server neither
 * loses nor duplicates usage.
 */
export type Fact =
  /** The id of the program's session. */
  | { kind: 'session'; id: string }
  /** The usage of one model by this run so far, without earlier runs of the session. A later report replaces an estimate. */
  | ({ kind: 'usage'; provider: string; model: string; costStatus: CostStatus } & UsageTotals)
  /** The cumulative usage of the session, which is stored for its next run. */
  | { kind: 'totals'; totals: Record<string, UsageTotals> }
  /**
   * The file in which the program itself records the session's tokens, with its length and totals at the start of
   * the run. If the reader dies, the usage of the run can be read from this file.
   */
  | ({ kind: 'session_file' } & SessionFileStart)
  /** Where the program itself records the calls of the session. It serves the same purpose as `session_file`. */
  | ({ kind: 'session_store' } & SessionStore)
  /** The latest message of the agent, truncated to 2,000 characters. The last one becomes the run's summary. */
  | { kind: 'text'; text: string }
  /** The session cannot be resumed: the program does not know it, or it is full. The next run starts a new one. */
  | { kind: 'dead_session' }
  /**
   * The provider refuses requests until a time (ISO 8601, possibly past), or null if it names none. This matters
   * only if the run fails: a program may continue after a refusal with other credit.
   */
  | { kind: 'rate_limited'; until: string | null }
  /** The program retries a refused request: "retrying 4 of 10: 529 overloaded". Null after it has succeeded. */
  | { kind: 'retrying'; text: string | null }
  /** The number of tool calls that the program refused to the agent. */
  | { kind: 'refused_tools'; count: number }
  /** The program cannot succeed any more, so the shim ends it. The preceding outcome applies. */
  | { kind: 'give_up' }
  /**
   * The result that the program reports. `ok: false` makes the run fail, whatever the exit code. `exitCode` is the
   * code with which the program ends after this result, if it is not 0.
   */
  | { kind: 'outcome'; ok: boolean; code: string | null; message: string | null; exitCode?: number }

/** The state of a session file at the start of a run. */
export interface SessionFileStart {
  path: string
  /** The length of the file, in bytes. */
  offset: number
  before: UsageTotals
  model: string
  /** Whether the file belongs to a sub-agent, which has its own session. */
  isSubagent?: boolean
}

/** The place in which a program records the calls of a session, and its state at the start of a run. */
export interface SessionStore {
  program: 'gemini' | 'opencode'
  /** A folder (`gemini`) or a database (`opencode`). */
  path: string
  session: string
  /** What belongs to earlier runs: the length of each file in bytes, or the time of the last `step` in milliseconds. */
  before: Record<string, number>
}

export type CostStatus = 'reported' | 'estimated' | 'unpriced'

/**
 * When a program reports the usage of a run: during the run, or never. A budget
 * can stop a live run only with live metering.
 */
export const METERINGS = ['live', 'none'] as const
export type Metering = (typeof METERINGS)[number]

/** Extracts facts from a program's output. It never throws, whatever the output. */
export interface OutputReader {
  /** Reads one line of standard output. */
  line(text: string): Fact[]
  /** Reads one line of standard error. */
  errorLine(text: string): Fact[]
  /**
   * Reads the program's own files since the last call. The caller calls it a few times a second during the run,
   * and once after its end.
   *
   * @param isEnd whether it is the last call
   */
  poll?(isEnd?: boolean): Fact[]
  /** Whether to omit a line of standard output from the run's log, because a later line contains the same content. */
  isNoise?(text: string): boolean
}

/** The inputs of a reader. `env` is the whole environment of the program. */
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

/** Starts one kind of agent program and reads its output. */
export interface Adapter<Config = Record<string, unknown>> {
  type: string
  /** One sentence for the configuration guide. */
  summary: string
  /** The strict schema of `adapterConfig`: an unknown key is an error. Each key has a description for the guide. */
  config: GenericSchema<unknown, Config>
  /** The `adapterConfig` key of the path to the instructions, or null if there is none. */
  instructionsKey: string | null
  /**
   * How the program receives the agent's instructions: as a separate file
   * (`RunInput.instructionsFile`), in the prompt, or not at all.
   */
  instructions: 'file' | 'prompt' | 'none'
  /** The program if the configuration names none. */
  defaultCommand?: string
  /** The boolean key of `adapterConfig` that lets the program skip its permission prompts, or null if there is none. */
  skipsPermissionsKey: string | null
  /** How to install a missing program, or null if there is nothing to install. */
  installHint: string | null
  /** The arguments that print the program's options, or null if the adapter does not use them. */
  helpArgs: readonly string[] | null
  /** Whether the program reports a result at the end of each run. A run without a result then fails, whatever its exit code. */
  endsWithResult?: true
  metering: Metering
  /** The option with which the program loads a folder of skills as a plugin. */
  skillsOption?: string
  /** Whether the adapter starts a program of the user, which can be sandboxed. */
  startsProgram: boolean
  /** Returns the program's files in the user's home. A sandboxed run can access no others there. */
  userFiles?(env: Readonly<Record<string, string>>): UserFiles
  /** Whether the next run may resume the session of the previous one. */
  resumes: boolean
  /** Builds the command of a run. `config` is parsed, and its secrets are resolved (see secrets.ts). */
  command(config: Config, run: RunInput): Command
  /** Creates the reader of a run's output. */
  reader(config: Config, run: ReaderInput): OutputReader
}
