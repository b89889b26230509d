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
import { isSecretName } from '../agent/redact.ts'
import { findCompany } from '../company/queries.ts'
import type { Context } from '../context.ts'
import { leftToSpend } from '../cost/budget.ts'
import type { RunSpec } from '../scheduler/run-files.ts'
import { openSecrets } from '../secret/open.ts'
import { placeSkills } from '../skill/sync.ts'
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
  instructionsHash: string | null
}

/**
 * Works out what exactly a run will be: program, arguments, environment,
 * working directory, prompt and session. Starts nothing and changes nothing
 * but the agent's own folder.
 *
 * @throws NotStartable with a sentence that says what to mend
 */
export async function prepareRun(
  ctx: Context,
  run: RunRow,
  token: string,
  around: RunSurroundings,
): Promise<PreparedRun> {
  const agent = findAgent(ctx.db, { id: run.agent_id })!
  const adapter = adapterOf(run.adapter_type)
  if (!adapter) throw new NotStartable('unknown_adapter', `There is no adapter ${run.adapter_type}.`)
  const reasons = JSON.parse(run.reasons) as WakeReason[]
  const issue = run.issue_id === null ? undefined : findIssueBrief(ctx.db, run.issue_id)
  const { config, secrets } = resolveConfig(ctx, agent, adapter, issue?.project_env)
  const workspaceCwd = issue?.project_id ? findWorkspaceCwd(ctx.db, issue.project_id) : null
  const cwd = await chooseCwd(ctx, agent, config, workspaceCwd)
  const instructions = await readInstructions(adapter, config, cwd)
  const flags = await findFlags(ctx, adapter, config, around)
  const instructionsHash = instructions?.hash ?? null
  const session = sessionToResume(adapter, findSession(ctx.db, run) ?? null, { cwd, instructionsHash, flags })
  const newSessionId = randomUUID()
  const approvalId = reasons.findLast((reason) => reason.approvalId !== null)?.approvalId
  const approval = (approvalId && findApprovalBrief(ctx.db, approvalId)) || null
  const commentId = reasons.findLast((reason) => reason.commentId !== null)?.commentId ?? null
  const comment = commentId === null ? undefined : findCommentBrief(ctx.db, commentId)
  const company = findCompany(ctx.db, { id: run.company_id })!
  const skills = await placeSkills(ctx, agent.id, run.id)
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
  return {
    instructionsHash,
    spec: {
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
    },
  }
}

/**
 * The agent's configuration as its adapter reads it, with the project's
 * environment below its own and with the stored secrets in place.
 *
 * @returns the configuration, and every secret value in it
 */
function resolveConfig(ctx: Context, agent: AgentRow, adapter: Adapter, projectEnv: string | null | undefined) {
  const parsed = v.safeParse(adapter.config, JSON.parse(agent.adapter_config))
  if (!parsed.success) {
    const faults = parsed.issues.map((issue) => `${v.getDotPath(issue) ?? 'adapterConfig'}: ${issue.message}`)
    throw new NotStartable('invalid_config', `adapterConfig of ${adapter.type} is not valid: ${faults.join(' ')}`)
  }
  const config: Record<string, unknown> =
    projectEnv && parsed.output.env
      ? { ...parsed.output, env: { ...JSON.parse(projectEnv), ...parsed.output.env } }
      : parsed.output
  const names = secretNames(config)
  const opened = openSecrets(ctx, agent.company_id, names)
  const missing = names.filter((name) => !opened.has(name))
  if (missing.length > 0) {
    throw new NotStartable(
      'unknown_secret',
      `The company has no secret named ${missing.join(', ')}. Store it, or take it out of the env.`,
    )
  }
  const sealed = names.filter((name) => opened.get(name) === undefined)
  if (sealed.length > 0) {
    throw new NotStartable(
      'secret_unreadable',
      `The secret ${sealed.join(', ')} cannot be opened: keys/secret.key is not the key that it was stored under. Rotate it.`,
    )
  }
  const resolved = withSecrets(config, (name) => opened.get(name)!)
  const [header] = Object.entries(resolved.headers ?? {}).find(([, value]) => /[\r\n]/.test(value)) ?? []
  if (header) throw new NotStartable('invalid_secret', `The secret of the header ${header} is not one line.`)
  return {
    config: resolved,
    secrets: [...opened.values(), ...plainSecrets(resolved)].filter((one) => one !== undefined),
  }
}

/** What stands in the configuration itself under a name that says it is a secret. */
const plainSecrets = (config: Record<string, unknown>): string[] =>
  [config.env, config.headers].flatMap((values) =>
    Object.entries((values ?? {}) as Record<string, string>).flatMap(([name, value]) =>
      isSecretName(name) ? [value] : [],
    ),
  )

/** The configured directory, else the issue's workspace, else the agent's own folder, which is made. */
async function chooseCwd(
  ctx: Context,
  agent: AgentRow,
  config: Record<string, unknown>,
  workspaceCwd: string | null,
): Promise<string> {
  const configured = typeof config.cwd === 'string' ? config.cwd : workspaceCwd
  if (configured === null) {
    const own = path.join(ctx.config.dataDir, 'agents', agent.id)
    await mkdir(own, { recursive: true, mode: 0o700 })
    return own
  }
  const found = await stat(configured).catch(() => undefined)
  if (!found?.isDirectory()) {
    throw new NotStartable(
      'cwd_missing',
      `The working directory ${configured} ${found ? 'is no directory' : 'does not exist'}.`,
    )
  }
  return configured
}

async function readInstructions(adapter: Adapter, config: Record<string, unknown>, cwd: string) {
  const named = adapter.instructionsKey === null ? undefined : config[adapter.instructionsKey]
  if (typeof named !== 'string') return null
  const file = path.resolve(cwd, named)
  try {
    const text = await readFile(file, 'utf8')
    return { path: file, text, hash: createHash('sha256').update(text).digest('base64url') }
  } catch (error) {
    throw new NotStartable(
      'instructions_missing',
      `The instructions file ${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`,
    )
  }
}

/** The options that the program lists; a missing program is said here, with how to get it. */
async function findFlags(ctx: Context, adapter: Adapter, config: Record<string, unknown>, around: RunSurroundings) {
  if (typeof config.command !== 'string') return null
  const found = adapter.helpArgs
    ? await around.probe(config.command, adapter.helpArgs)
    : (await which(config.command, ctx.config.environment.PATH ?? '')) && { flags: null }
  if (found) return found.flags
  const hint = adapter.installHint ? ` ${adapter.installHint}` : ''
  throw new NotStartable('command_missing', `The program ${config.command} was not found on this machine.${hint}`)
}
