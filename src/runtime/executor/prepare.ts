import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { limitsOf } from '../../adapter/config.ts'
import { buildPrompt } from '../../adapter/prompt.ts'
import { sessionToResume } from '../../adapter/session.ts'
import type { AgentRow } from '../../organization/agent/agent.ts'
import { ownFolder } from '../../organization/agent/allowed-folder.ts'
import { findAgent } from '../../organization/agent/queries.ts'
import { placeSkills, type SyncedSkills } from '../../organization/agent-skill/sync.ts'
import { leftToSpend } from '../../organization/budget/enforce.ts'
import { findCompany } from '../../organization/company/queries.ts'
import type { RunRow } from '../../organization/run/run.ts'
import type { Context } from '../../platform/context.ts'
import { isolate, makeSandboxFolders } from '../isolation/isolate.ts'
import type { Isolation } from '../isolation/isolation.ts'
import { NotStartable, type Refuse } from '../not-startable.ts'
import type { createProbe } from '../process/capabilities.ts'
import type { RunSpec } from '../process/run-files.ts'
import { type AdapterConfig, readAdapterConfig } from './adapter-config.ts'
import { runVariables } from './environment.ts'
import { findProjectWorkspaces, type IssueBrief, type ProjectWorkspaces } from './prepare-queries.ts'
import { envOfProject, resolveConfig } from './resolve-config.ts'
import { findSession } from './session.ts'
import { readWakeContext, type WakeContext } from './wake-context.ts'
import { chooseCwd, findFlags, readInstructions } from './workplace.ts'

/** The dependencies that all runs of a server share. */
export interface RuntimeDependencies {
  apiUrl: string
  probe: ReturnType<typeof createProbe>
  isolation: Isolation
  postProgram: readonly [string, ...string[]]
}

export interface PreparedRun {
  spec: RunSpec
  /** The prompt. An adapter may pass it to the program as part of another text. */
  prompt: string
  instructionsHash: string | null
}

/** The columns of a run that a plan depends on. */
export type RunToPlan = Pick<
  RunRow,
  'id' | 'company_id' | 'agent_id' | 'issue_id' | 'adapter_type' | 'source' | 'reasons'
>

/** What differs between a run and its rehearsal. */
export interface RunOwn {
  token: string
  /** The id of the session if the run starts a new one. */
  newSessionId: string
  /** Whether the program may be run with `--help` and `--version`. */
  examinesProgram: boolean
  /** Whether the instructions file may be opened. */
  readsInstructions: boolean
  /** Returns the folder of the agent's skills. A rehearsal does not create it. */
  skills(): Promise<Pick<SyncedSkills, 'directory' | 'skills'>>
}

/** A planned run, with every problem that prevents it. */
export interface RunPlan {
  problems: readonly NotStartable[]
  /** Null if the configuration is unusable. If there are problems, it is the run as it would be without them. */
  prepared: PreparedRun | null
}

/**
 * Plans a run and creates the folders that it needs: the folder of the agent's
 * skills, and the agent's own folder if the run works there.
 *
 * @throws NotStartable with the first problem and the folders of all problems
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
  await makeSandboxFolders(ctx, run, prepared!.spec)
  return prepared!
}

/**
 * Plans a run: program, arguments, environment, working directory, prompt and
 * session. It starts and changes nothing, so a rehearsal returns the same plan.
 */
export async function planRun(
  ctx: Context,
  run: RunToPlan,
  own: RunOwn,
  dependencies: RuntimeDependencies,
): Promise<RunPlan> {
  const agent = findAgent(ctx.db, { id: run.agent_id })!
  const read = readAdapterConfig(ctx, agent, run.adapter_type)
  if (read instanceof NotStartable) return { problems: [read], prepared: null }
  const problems: NotStartable[] = []
  const refuse: Refuse = (code, message, folders) => {
    problems.push(new NotStartable(code, message, folders))
  }
  const context = readWakeContext(ctx.db, run)
  const setup = await setUp(ctx, { run, own, agent, ...read, issue: context.issue, probe: dependencies.probe, refuse })
  const { skills, directory } = await own.skills()
  const prompt = writePrompt(ctx, { run, agent, context, setup, skills })
  const { adapter, config, cwd, session, limits } = setup
  const variables = runVariables(run, {
    apiUrl: dependencies.apiUrl,
    token: own.token,
    workspaceCwd: setup.workspaces.primary,
    skillsDir: directory,
    approval: context.approval,
  })
  const command = adapter.command(config, {
    runId: run.id,
    agentId: agent.id,
    cwd,
    prompt,
    instructionsFile: adapter.instructions === 'file' ? (setup.instructions?.path ?? null) : null,
    session,
    newSessionId: own.newSessionId,
    skillsDir: loadsSkills(setup) ? directory : null,
    flags: setup.flags,
    postProgram: dependencies.postProgram,
    wake: context.wake,
    variables,
  })
  const spec: RunSpec = {
    runId: run.id,
    command: command.command,
    args: command.args,
    wrapper: [],
    env: { ...ctx.config.environment, ...command.env, ...variables },
    cwd,
    stdin: command.stdin,
    redact: [own.token, ...setup.secrets],
    budgetMicros: leftToSpend(ctx, { companyId: run.company_id, agentId: agent.id }),
    ...limits,
    silenceSec: limits.silenceSec || null,
    logCap: ctx.config.logLimit,
    reader: {
      type: adapter.type,
      config: { model: typeof config.model === 'string' ? config.model : undefined },
      session,
      newSessionId: own.newSessionId,
    },
  }
  const isolated = await isolate(
    ctx,
    dependencies.isolation,
    {
      agent,
      adapter,
      config,
      spec,
      readable: [directory, ...(setup.instructions ? [setup.instructions.path] : [])],
      writable: [
        ...setup.workspaces.approved.filter((folder) => folder === setup.workspaces.primary),
        ...(cwd === setup.workspaces.primary ? setup.workspaces.gitFolders : []),
      ],
    },
    refuse,
  )
  return { problems, prepared: { spec: isolated, prompt, instructionsHash: setup.instructions?.hash ?? null } }
}

interface SetUp extends AdapterConfig {
  run: RunToPlan
  own: RunOwn
  agent: AgentRow
  issue: IssueBrief | null
  probe: RuntimeDependencies['probe']
  refuse: Refuse
}

/** Resolves the inputs of the command: secrets, directory, instructions, options and session. */
async function setUp(ctx: Context, { run, own, agent, adapter, issue, probe, refuse, ...read }: SetUp) {
  const projectEnv = issue ? envOfProject(ctx, agent, issue, refuse) : {}
  const { config, secrets } = resolveConfig(ctx, agent, read.config, projectEnv, refuse)
  const workspaces = issue?.project_id ? findProjectWorkspaces(ctx.db, issue.project_id, issue.id) : NO_WORKSPACES
  const place = { ctx, agent, config, workspaces, refuse }
  const cwd = await chooseCwd(place)
  const instructions = own.readsInstructions ? await readInstructions(place, adapter, cwd) : null
  const flags = own.examinesProgram ? await findFlags(place, adapter, probe) : null
  const instructionsHash = instructions?.hash ?? null
  const session = sessionToResume(adapter, findSession(ctx.db, run) ?? null, { cwd, instructionsHash, flags })
  return { adapter, config, secrets, workspaces, cwd, instructions, flags, session, limits: limitsOf(config) }
}

const NO_WORKSPACES: ProjectWorkspaces = { primary: null, approved: [], gitFolders: [] }

interface Prompt {
  run: RunToPlan
  agent: AgentRow
  context: WakeContext
  setup: Awaited<ReturnType<typeof setUp>>
  skills: SyncedSkills['skills']
}

/** Whether the program loads the folder of the agent's skills. */
const loadsSkills = ({ adapter, flags }: Pick<Prompt['setup'], 'adapter' | 'flags'>): boolean =>
  adapter.skillsOption !== undefined && flags?.has(adapter.skillsOption) === true

function writePrompt(ctx: Context, { run, agent, context, setup, skills }: Prompt): string {
  const { adapter, config, instructions } = setup
  const company = findCompany(ctx.db, { id: run.company_id })!
  return buildPrompt({
    agent: { id: agent.id, name: agent.name, role: agent.role, title: agent.title },
    company: { id: company.id, name: company.name },
    runId: run.id,
    reasons: [...new Set(context.wake.reasons)],
    issue: context.issue,
    comment: context.comment,
    approval: context.approval,
    instructions: adapter.instructions === 'prompt' ? instructions : null,
    // A program that loads the folder of skills lists them to the model itself.
    skills: loadsSkills(setup) ? [] : skills.filter((skill) => !skill.required),
    promptTemplate: typeof config.promptTemplate === 'string' ? config.promptTemplate : null,
  })
}
