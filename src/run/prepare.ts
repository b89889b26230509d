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
import { configOf } from '../agent/configuration.ts'
import { findAgent } from '../agent/queries.ts'
import { isSecretName } from '../agent/redact.ts'
import { findCompany } from '../company/queries.ts'
import type { Context } from '../context.ts'
import { leftToSpend } from '../cost/budget.ts'
import { openEnv } from '../project/env.ts'
import type { RunSpec } from '../scheduler/run-files.ts'
import { openSecrets } from '../secret/open.ts'
import { isSealed, sealedIn } from '../secret/sealed.ts'
import { placeSkills, type SyncedSkills } from '../skill/sync.ts'
import { runVariables } from './environment.ts'
import {
  findApprovalBrief,
  findCommentBrief,
  findIssueBrief,
  findWorkspaceCwd,
  type IssueBrief,
} from './prepare-queries.ts'
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

/** What is a run's own. */
export interface RunOwn {
  token: string
  /** For a session that begins with the run. */
  newSessionId: string
  /** Where the agent's skills are, or would be. */
  skills(): Promise<Pick<SyncedSkills, 'directory' | 'skills'>>
}

/** What a run would be, and all that stands in its way. */
export interface RunPlan {
  problems: readonly NotStartable[]
  /** Null when not even its command can be told; with problems it is what the run would be without them. */
  prepared: PreparedRun | null
}

/**
 * Prepares a run and makes what it needs: the agent's skills, and its own
 * folder where it works there.
 *
 * @throws NotStartable with a sentence that says what to mend
 */
export async function prepareRun(
  ctx: Context,
  run: RunRow,
  token: string,
  around: RunSurroundings,
): Promise<PreparedRun> {
  const own = {
    token,
    newSessionId: randomUUID(),
    skills: () => placeSkills(ctx, run.agent_id, run.id),
  }
  const { problems, prepared } = await planRun(ctx, run, own, around)
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
export async function planRun(ctx: Context, run: RunToPlan, own: RunOwn, around: RunSurroundings): Promise<RunPlan> {
  const { token, newSessionId } = own
  const agent = findAgent(ctx.db, { id: run.agent_id })!
  const adapter = adapterOf(run.adapter_type)
  if (!adapter) return hopeless('unknown_adapter', `There is no adapter ${run.adapter_type}.`)
  const { adapterConfig } = configOf(ctx, agent)
  const sealed = sealedIn(adapterConfig, 'adapterConfig')
  if (sealed.length > 0) return hopeless('secret_unreadable', unreadable(sealed, agent.name))
  const parsed = v.safeParse(adapter.config, adapterConfig)
  if (!parsed.success) {
    const faults = parsed.issues.map((issue) => `${v.getDotPath(issue) ?? 'adapterConfig'}: ${issue.message}`)
    return hopeless('invalid_config', `adapterConfig of ${adapter.type} is not valid: ${faults.join(' ')}`)
  }
  const problems: NotStartable[] = []
  const refuse = (code: string, message: string) => {
    problems.push(new NotStartable(code, message))
  }
  const reasons = JSON.parse(run.reasons) as WakeReason[]
  const issue = run.issue_id === null ? undefined : findIssueBrief(ctx.db, run.issue_id)
  const projectEnv = issue ? envOfProject(ctx, agent, issue, refuse) : {}
  const { config, secrets } = resolveConfig(ctx, agent, parsed.output, projectEnv, refuse)
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
  const skills = await own.skills()
  const prompt = buildPrompt({
    agent: { id: agent.id, name: agent.name, role: agent.role, title: agent.title },
    company: { id: company.id, name: company.name },
    runId: run.id,
    reasons: [...new Set(reasons.map((reason) => reason.source))],
    issue: issue ?? null,
    comment: comment ? { id: comment.id, author: comment.author ?? 'the board', body: comment.body } : null,
    approval,
    instructions: adapter.instructions === 'prompt' ? instructions : null,
    skills: skills.skills.filter((skill) => !skill.required),
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
  const variables = runVariables(run, {
    apiUrl: around.apiUrl,
    token,
    workspaceCwd,
    skillsDir: skills.directory,
    approval,
  })
  const spec: RunSpec = {
    runId: run.id,
    command: command.command,
    args: command.args,
    env: { ...ctx.config.environment, ...command.env, ...variables },
    cwd,
    stdin: command.stdin,
    redact: [token, ...secrets],
    budgetMicros: leftToSpend(ctx, { companyId: run.company_id, agentId: agent.id }),
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

/**
 * The agent's configuration as its adapter reads it, with the project's
 * environment below its own and with the stored secrets in place; a secret
 * that cannot be had is empty.
 *
 * @param own the configuration, parsed
 * @returns the configuration, and every secret value in it
 */
function resolveConfig(
  ctx: Context,
  agent: AgentRow,
  own: Record<string, unknown>,
  projectEnv: Record<string, unknown>,
  refuse: Refuse,
) {
  const config: Record<string, unknown> = own.env ? { ...own, env: { ...projectEnv, ...own.env } } : own
  const names = secretNames(config)
  const opened = openSecrets(ctx, agent.company_id, names)
  const missing = names.filter((name) => !opened.has(name))
  if (missing.length > 0) {
    refuse(
      'unknown_secret',
      `The company has no secret named ${missing.join(', ')}. Store it, or take it out of the env.`,
    )
  }
  const sealed = names.filter((name) => opened.get(name) === undefined)
  if (sealed.length > 0) {
    refuse(
      'secret_unreadable',
      `The secret ${sealed.join(', ')} cannot be opened: keys/secret.key is not the key that it was stored under. Rotate it.`,
    )
  }
  const resolved = withSecrets(config, (name) => opened.get(name) ?? '')
  const [header] = Object.entries(resolved.headers ?? {}).find(([, value]) => /[\r\n]/.test(value)) ?? []
  if (header) refuse('invalid_secret', `The secret of the header ${header} is not one line.`)
  return {
    config: resolved,
    secrets: [...opened.values(), ...plainSecrets(resolved)].filter((one) => one !== undefined),
  }
}

/** The environment of the issue's project; what of it cannot be opened is left out. */
function envOfProject(ctx: Context, agent: AgentRow, issue: IssueBrief, refuse: Refuse): Record<string, unknown> {
  const { project_id, project_name, project_env } = issue
  if (project_id === null || project_name === null || project_env === null) return {}
  const env = openEnv(ctx, { id: project_id, company_id: agent.company_id, env: project_env })
  const sealed = sealedIn(env, 'env')
  if (sealed.length > 0) refuse('secret_unreadable', unreadable(sealed, `the project ${project_name}`))
  return Object.fromEntries(Object.entries(env).filter(([, value]) => !isSealed(value)))
}

const unreadable = (paths: readonly string[], owner: string) =>
  `${paths.join(', ')} of ${owner} cannot be opened: keys/secret.key is not the key that it was stored under. Put that key back, or set the value again.`

/** What stands in the configuration itself under a name that says it is a secret. */
const plainSecrets = (config: Record<string, unknown>): string[] =>
  [config.env, config.headers].flatMap((values) =>
    Object.entries((values ?? {}) as Record<string, string>).flatMap(([name, value]) =>
      isSecretName(name) ? [value] : [],
    ),
  )

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
