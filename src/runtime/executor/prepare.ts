import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import * as v from 'valibot'
import { sealedIn, unreadable } from '../../access/redaction/sealed.ts'
import type { Adapter } from '../../adapter/adapter.ts'
import { limitsOf } from '../../adapter/config.ts'
import { buildPrompt } from '../../adapter/prompt.ts'
import { adapterOf } from '../../adapter/registry.ts'
import { sessionToResume } from '../../adapter/session.ts'
import type { AgentRow } from '../../organization/agent/agent.ts'
import { ownFolder } from '../../organization/agent/allowed-folder.ts'
import { configOf } from '../../organization/agent/configuration.ts'
import { findAgent } from '../../organization/agent/queries.ts'
import { placeSkills, type SyncedSkills } from '../../organization/agent-skill/sync.ts'
import { leftToSpend } from '../../organization/budget/enforce.ts'
import { findCompany } from '../../organization/company/queries.ts'
import type { RunRow } from '../../organization/run/run.ts'
import type { WakeReason } from '../../organization/wake/wake.ts'
import type { Context } from '../../platform/context.ts'
import type { createProbe } from '../process/capabilities.ts'
import type { RunSpec } from '../process/run-files.ts'
import { runVariables } from './environment.ts'
import { NotStartable, type Refuse } from './not-startable.ts'
import {
  findApprovalBrief,
  findCommentBrief,
  findIssueBrief,
  findProjectWorkspaces,
  type ProjectWorkspaces,
} from './prepare-queries.ts'
import { envOfProject, resolveConfig } from './resolve-config.ts'
import { findSession } from './session.ts'
import { chooseCwd, findFlags, readInstructions } from './workplace.ts'

/** What is the same for every run of a server. */
export interface RuntimeDependencies {
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
  /** Whether the program may be run with `--help` and `--version`. */
  examinesProgram: boolean
  /** Whether the instructions file may be opened. */
  readsInstructions: boolean
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
  dependencies: RuntimeDependencies,
): Promise<PreparedRun> {
  const own = {
    token,
    newSessionId: randomUUID(),
    examinesProgram: true,
    readsInstructions: true,
    skills: () => placeSkills(ctx, run.agent_id, run.id),
  }
  const { problems, prepared } = await planRun(ctx, run, own, dependencies)
  if (problems[0]) {
    const { code, message } = problems[0]
    throw new NotStartable(
      code,
      message,
      problems.flatMap((problem) => problem.folders),
    )
  }
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
  own: RunOwn,
  dependencies: RuntimeDependencies,
): Promise<RunPlan> {
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
  const refuse: Refuse = (code, message, folders) => {
    problems.push(new NotStartable(code, message, folders))
  }
  const reasons = JSON.parse(run.reasons) as WakeReason[]
  const issue = run.issue_id === null ? undefined : findIssueBrief(ctx.db, run.issue_id)
  const projectEnv = issue ? envOfProject(ctx, agent, issue, refuse) : {}
  const { config, secrets } = resolveConfig(ctx, agent, permitted(agent, adapter, parsed.output), projectEnv, refuse)
  const workspaces = issue?.project_id ? findProjectWorkspaces(ctx.db, issue.project_id) : NO_WORKSPACES
  const place = { ctx, agent, config, workspaces, refuse }
  const cwd = await chooseCwd(place)
  const instructions = own.readsInstructions ? await readInstructions(place, adapter, cwd) : null
  const flags = own.examinesProgram ? await findFlags(place, adapter, dependencies.probe) : null
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
    comment: comment ? { id: comment.id, author: authorOf(comment), body: comment.body } : null,
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
    postProgram: dependencies.postProgram,
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
    apiUrl: dependencies.apiUrl,
    token,
    workspaceCwd: workspaces.primary,
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

const NO_WORKSPACES: ProjectWorkspaces = { primary: null, approved: [] }

/** A configuration as it is used: one that no person has approved does not skip the permission prompts. */
const permitted = (agent: AgentRow, { skipsPermissionsKey }: Adapter, config: Record<string, unknown>) =>
  agent.config_approved === 1 || skipsPermissionsKey === null ? config : { ...config, [skipsPermissionsKey]: false }

const authorOf = ({ author, person }: { author: string | null; person: string | null }) =>
  author ?? (person === null ? 'the board' : `${person} of the board`)

const hopeless = (code: string, message: string): RunPlan => ({
  problems: [new NotStartable(code, message)],
  prepared: null,
})
