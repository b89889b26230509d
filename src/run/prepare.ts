import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import * as v from 'valibot'
import type { Adapter } from '../adapter/adapter.ts'
import { type createProbe, which } from '../adapter/capabilities.ts'
import { limitsOf } from '../adapter/config.ts'
import { buildPrompt } from '../adapter/prompt.ts'
import { adapterOf } from '../adapter/registry.ts'
import { secretNames, withSecrets } from '../adapter/secrets.ts'
import { sessionToResume } from '../adapter/session.ts'
import type { AgentRow } from '../agent/agent.ts'
import { findAgent } from '../agent/queries.ts'
import { findCompany } from '../company/queries.ts'
import type { Context } from '../context.ts'
import type { RunSpec } from '../scheduler/run-files.ts'
import { runVariables } from './environment.ts'
import { findApprovalBrief, findCommentBrief, findIssueBrief, findWorkspaceCwd } from './prepare-queries.ts'
import type { RunRow } from './run.ts'
import { findSession } from './session.ts'
import type { WakeReason } from './wake.ts'

/** Why a run cannot be started; it becomes the run's error. */
export class NotStartable extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** What is the same for every run of a server. */
export interface RunSurroundings {
  apiUrl: string
  probe: ReturnType<typeof createProbe>
  postProgram: readonly [string, ...string[]]
}

export interface PreparedRun {
  spec: RunSpec
  /** What the agent is told; an adapter may carry it inside something else. */
  prompt: string
  instructionsHash: string | null
}

/** What of a run decides what it will be. */
export type RunToPlan = Pick<
  RunRow,
  'id' | 'company_id' | 'agent_id' | 'issue_id' | 'adapter_type' | 'source' | 'reasons'
>

/** What is made for one run alone. */
export interface RunSecrets {
  token: string
  /** For a session that begins with the run. */
  newSessionId: string
}

/** What a run would be, and all that stands in its way. */
export interface RunPlan {
  problems: readonly NotStartable[]
  /** Null when not even its command can be told; with problems it is what the run would be without them. */
  prepared: PreparedRun | null
}

/**
 * Prepares a run and makes what it needs: the agent's own folder, where it
 * works there.
 *
 * @throws NotStartable with a sentence that says what to mend
 */
export async function prepareRun(
  ctx: Context,
  run: RunRow,
  token: string,
  around: RunSurroundings,
): Promise<PreparedRun> {
  const { problems, prepared } = await planRun(ctx, run, { token, newSessionId: randomUUID() }, around)
  if (problems[0]) throw problems[0]
  const { cwd } = prepared!.spec
  if (cwd === ownFolder(ctx, run.agent_id)) await mkdir(cwd, { recursive: true, mode: 0o700 })
  return prepared!
}

/**
 * Works out what exactly a run will be: program, arguments, environment,
 * working directory, prompt and session. Starts and changes nothing, so that
 * a rehearsal is this and nothing else.
 */
export async function planRun(
  ctx: Context,
  run: RunToPlan,
  { token, newSessionId }: RunSecrets,
  around: RunSurroundings,
): Promise<RunPlan> {
  const agent = findAgent(ctx.db, { id: run.agent_id })!
  const adapter = adapterOf(run.adapter_type)
  if (!adapter) return hopeless('unknown_adapter', `There is no adapter ${run.adapter_type}.`)
  const parsed = v.safeParse(adapter.config, JSON.parse(agent.adapter_config))
  if (!parsed.success) {
    const faults = parsed.issues.map((issue) => `${v.getDotPath(issue) ?? 'adapterConfig'}: ${issue.message}`)
    return hopeless('invalid_config', `adapterConfig of ${adapter.type} is not valid: ${faults.join(' ')}`)
  }
  const problems: NotStartable[] = []
  const refuse = (code: string, message: string) => {
    problems.push(new NotStartable(code, message))
  }
  const config = resolveSecrets(parsed.output, refuse)
  const reasons = JSON.parse(run.reasons) as WakeReason[]
  const issue = run.issue_id === null ? undefined : findIssueBrief(ctx.db, run.issue_id)
  const workspaceCwd = issue?.project_id ? findWorkspaceCwd(ctx.db, issue.project_id) : null
  const cwd = await chooseCwd(ctx, agent, config, workspaceCwd, refuse)
  const instructions = await readInstructions(adapter, config, cwd, refuse)
  const flags = await findFlags(ctx, adapter, config, around, refuse)
  const instructionsHash = instructions?.hash ?? null
  const session = sessionToResume(adapter, findSession(ctx.db, run) ?? null, { cwd, instructionsHash, flags })
  const approvalId = reasons.findLast((reason) => reason.approvalId !== null)?.approvalId
  const approval = (approvalId && findApprovalBrief(ctx.db, approvalId)) || null
  const commentId = reasons.findLast((reason) => reason.commentId !== null)?.commentId ?? null
  const comment = commentId === null ? undefined : findCommentBrief(ctx.db, commentId)
  const company = findCompany(ctx.db, { id: run.company_id })!
  const prompt = buildPrompt({
    agent: { id: agent.id, name: agent.name, role: agent.role, title: agent.title },
    company: { id: company.id, name: company.name },
    runId: run.id,
    reasons: [...new Set(reasons.map((reason) => reason.source))],
    issue: issue ?? null,
    comment: comment ? { id: comment.id, author: comment.author ?? 'the board', body: comment.body } : null,
    approval,
    instructions: adapter.instructions === 'prompt' ? instructions : null,
    promptTemplate: typeof config.promptTemplate === 'string' ? config.promptTemplate : null,
  })
  const command = adapter.command(config, {
    runId: run.id,
    agentId: agent.id,
    cwd,
    prompt,
    instructionsFile: adapter.instructions === 'file' ? (instructions?.path ?? null) : null,
    session,
    newSessionId,
    flags,
    postProgram: around.postProgram,
    wake: {
      companyId: run.company_id,
      reasons: reasons.map((reason) => reason.source),
      issueId: run.issue_id,
      commentId,
      approvalId: approval?.id ?? null,
    },
  })
  const limits = limitsOf(config)
  const variables = runVariables(run, { apiUrl: around.apiUrl, token, workspaceCwd, skillsDir: null, approval })
  const spec: RunSpec = {
    runId: run.id,
    command: command.command,
    args: command.args,
    env: { ...ctx.config.environment, ...command.env, ...variables },
    cwd,
    stdin: command.stdin,
    redact: [token],
    ...limits,
    silenceSec: limits.silenceSec || null,
    logCap: ctx.config.logLimit,
    reader: {
      type: adapter.type,
      config: { model: typeof config.model === 'string' ? config.model : undefined },
      session,
      newSessionId,
    },
  }
  return { problems, prepared: { spec, prompt, instructionsHash } }
}

type Refuse = (code: string, message: string) => void

const hopeless = (code: string, message: string): RunPlan => ({
  problems: [new NotStartable(code, message)],
  prepared: null,
})

function resolveSecrets(config: Record<string, unknown>, refuse: Refuse): Record<string, unknown> {
  const missing = secretNames(config)
  if (missing.length > 0) refuse('unknown_secret', `The company has no secret named ${missing.join(', ')}.`)
  return withSecrets(config, (name) => name)
}

const ownFolder = (ctx: Context, agentId: string) => path.join(ctx.config.dataDir, 'agents', agentId)

/** The configured directory, else the issue's workspace, else the agent's own folder. */
async function chooseCwd(
  ctx: Context,
  agent: AgentRow,
  config: Record<string, unknown>,
  workspaceCwd: string | null,
  refuse: Refuse,
): Promise<string> {
  const configured = typeof config.cwd === 'string' ? config.cwd : workspaceCwd
  if (configured === null) return ownFolder(ctx, agent.id)
  const found = await stat(configured).catch(() => undefined)
  if (!found?.isDirectory()) {
    refuse('cwd_missing', `The working directory ${configured} ${found ? 'is no directory' : 'does not exist'}.`)
  }
  return configured
}

async function readInstructions(adapter: Adapter, config: Record<string, unknown>, cwd: string, refuse: Refuse) {
  const named = adapter.instructionsKey === null ? undefined : config[adapter.instructionsKey]
  if (typeof named !== 'string') return null
  const file = path.resolve(cwd, named)
  try {
    const text = await readFile(file, 'utf8')
    return { path: file, text, hash: createHash('sha256').update(text).digest('base64url') }
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code
    refuse('instructions_missing', `The instructions file ${file} cannot be read (${why}).`)
    return null
  }
}

/** The options that the program lists; a missing program is said here, with how to get it. */
async function findFlags(
  ctx: Context,
  adapter: Adapter,
  config: Record<string, unknown>,
  around: RunSurroundings,
  refuse: Refuse,
) {
  if (typeof config.command !== 'string') return null
  const found = adapter.helpArgs
    ? await around.probe(config.command, adapter.helpArgs)
    : (await which(config.command, ctx.config.environment.PATH ?? '')) && { flags: null }
  if (found) return found.flags
  const hint = adapter.installHint ? ` ${adapter.installHint}` : ''
  refuse('command_missing', `The program ${config.command} was not found on this machine.${hint}`)
  return null
}
