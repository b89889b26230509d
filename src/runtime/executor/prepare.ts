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
import { spanOfId, toTraceparent } from '../../platform/tracer.ts'
import { isolate, makeSandboxFolders } from '../isolation/isolate.ts'
import type { Isolation } from '../isolation/isolation.ts'
import { NotStartable, type Refuse } from '../not-startable.ts'
import type { createProbe } from '../process/capabilities.ts'
import type { RunSpec } from '../process/run-files.ts'
import { type AdapterConfig, readAdapterConfig } from './adapter-config.ts'
import { runVariables } from './environment.ts'
import { findProjectWorkspaces, type IssueBrief, type ProjectWorkspaces } from './prepare-queries.ts'
import {
  type Clone,
  chooseRemoteCwd,
  REMOTE_INSTRUCTIONS,
  REMOTE_SKILLS,
  type RemotePlace,
  refuseSandbox,
} from './remote-place.ts'
import { envOfProject, resolveConfig } from './resolve-config.ts'
import { withServiceMcp } from './service-mcp.ts'
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
  /** The worktree in which the run works. */
  worktree: ProjectWorkspaces['worktree']
  /** The prompt. An adapter may pass it to the program as part of another text. */
  prompt: string
  instructionsHash: string | null
  /** The files that a run on another machine brings along. */
  brings: { skillsDir: string; instructionsFile: string | null; clone: Clone | null }
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
  /** The placement of the run, if it is on another machine. */
  place?: RemotePlace
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
  const prepared = requireNoProblems(await planRun(ctx, run, own, dependencies))
  const { cwd } = prepared.spec
  if (cwd === ownFolder(ctx, run.agent_id)) await mkdir(cwd, { recursive: true, mode: 0o700 })
  await makeSandboxFolders(ctx, run, prepared)
  return prepared
}

/**
 * Returns the prepared run of a plan.
 *
 * @throws NotStartable with the first problem and the folders of all of them
 */
export function requireNoProblems({ problems, prepared }: RunPlan): PreparedRun {
  const [first] = problems
  if (!first) return prepared!
  throw new NotStartable(
    first.code,
    first.message,
    problems.flatMap((problem) => problem.folders),
  )
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
  const setup = await setUp(ctx, { run, own, agent, ...read, issue: context.issue, dependencies, refuse })
  const { skills: placed, directory } = await own.skills()
  const skills = own.place
    ? placed.map((skill) => ({ ...skill, path: skill.path.replace(directory, REMOTE_SKILLS) }))
    : placed
  const prompt = writePrompt(ctx, { run, agent, context, setup, skills })
  const { adapter, config, cwd, session, limits } = setup
  const variables = runVariables(run, {
    apiUrl: dependencies.apiUrl,
    token: own.token,
    workspaceCwd: setup.workspaceCwd,
    skillsDir: own.place ? REMOTE_SKILLS : directory,
    approval: context.approval,
    wake: context.wake,
    traceparent: ctx.tracer ? toTraceparent(spanOfId(run.id)) : null,
  })
  const command = adapter.command(withServiceMcp(ctx, agent, config, variables), {
    runId: run.id,
    agentId: agent.id,
    cwd,
    prompt,
    instructionsFile:
      adapter.instructions !== 'file' || !setup.instructions
        ? null
        : own.place
          ? REMOTE_INSTRUCTIONS
          : setup.instructions.path,
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
    // The machine of a placement has variables of its own.
    env: { ...(own.place ? {} : ctx.config.environment), ...command.env, ...variables },
    cwd,
    realCwd: setup.realCwd,
    opens: [],
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
  const worktree = cwd === setup.workspaces.primary ? setup.workspaces.worktree : null
  if (own.place) refuseSandbox(ctx, own.place, { agent, adapter, config, refuse })
  const isolated = own.place
    ? spec
    : await isolate(
        ctx,
        dependencies.isolation,
        {
          agent,
          adapter,
          config,
          spec,
          readable: [directory, ...(setup.instructions ? [setup.instructions.path] : [])],
          writable: [...setup.workspaces.approved.filter((folder) => folder === setup.workspaces.primary)],
          allowed: setup.workspaces.approved,
          worktree,
        },
        refuse,
      )
  const brings = {
    skillsDir: directory,
    instructionsFile: adapter.instructions === 'file' ? (setup.instructions?.path ?? null) : null,
    clone: setup.clone,
  }
  return {
    problems,
    prepared: { spec: isolated, worktree, prompt, instructionsHash: setup.instructions?.hash ?? null, brings },
  }
}

interface SetUp extends AdapterConfig {
  run: RunToPlan
  own: RunOwn
  agent: AgentRow
  issue: IssueBrief | null
  dependencies: Pick<RuntimeDependencies, 'probe' | 'isolation'>
  refuse: Refuse
}

/** Resolves the inputs of the command: secrets, directory, instructions, options and session. */
async function setUp(ctx: Context, { run, own, agent, adapter, issue, dependencies, refuse, ...read }: SetUp) {
  const projectEnv = issue ? envOfProject(ctx, agent, issue, refuse) : {}
  const { config, secrets } = resolveConfig(ctx, agent, read.config, projectEnv, refuse)
  const workspaces = issue?.project_id ? findProjectWorkspaces(ctx.db, issue.project_id, issue.id) : NO_WORKSPACES
  const place = { ctx, agent, config, workspaces, refuse }
  const remote = own.place && chooseRemoteCwd(ctx, { agent, config, issue, refuse })
  const { cwd, realCwd } = remote ? { cwd: remote.cwd, realCwd: null } : await chooseCwd(place)
  // The instructions travel with the run. A relative path is below the agent's folder on this machine.
  const instructionsBase = remote ? ownFolder(ctx, agent.id) : cwd
  const instructions = own.readsInstructions ? await readInstructions(place, adapter, instructionsBase) : null
  // The options of a program on another machine are unknown.
  const flags = own.examinesProgram && !remote ? await findFlags(place, adapter, { cwd, ...dependencies }) : null
  const instructionsHash = instructions?.hash ?? null
  const session = sessionToResume(adapter, findSession(ctx.db, run) ?? null, {
    cwd: own.place ? placedCwd(own.place, cwd) : cwd,
    instructionsHash,
    flags,
  })
  const workspaceCwd = remote ? (remote.isWorkspace ? cwd : null) : workspaces.primary
  const found = { workspaces, workspaceCwd, cwd, realCwd, clone: remote?.clone ?? null, instructions, flags, session }
  return { adapter, config, secrets, ...found, limits: limitsOf(config) }
}

/** The working directory in a placement, as the run records it: a session on one machine is unknown on another. */
export const placedCwd = (place: Pick<RemotePlace, 'name'>, cwd: string) => `${place.name}:${cwd}`

const NO_WORKSPACES: ProjectWorkspaces = { primary: null, approved: [], worktree: null }

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
    others: context.others,
    instructions: adapter.instructions === 'prompt' ? instructions : null,
    // A program that loads the folder of skills lists them to the model itself.
    skills: loadsSkills(setup) ? [] : skills.filter((skill) => !skill.required),
    promptTemplate: typeof config.promptTemplate === 'string' ? config.promptTemplate : null,
  })
}
