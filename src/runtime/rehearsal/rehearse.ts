import * as v from 'valibot'
import type { Caller } from '../../access/caller/caller.ts'
import { REDACTED, redact } from '../../access/redaction/redact.ts'
import { shellWarning } from '../../adapter/process.ts'
import * as field from '../../http/fields.ts'
import type { AgentRow } from '../../organization/agent/agent.ts'
import { missingSecrets } from '../../organization/agent/missing-secrets.ts'
import { plannedSkills } from '../../organization/agent-skill/sync.ts'
import { mergeRequest, toReason } from '../../organization/wake/merge.ts'
import { findWaitingWake } from '../../organization/wake/queries.ts'
import { Reason, WAKE_SOURCES, type WakeReason } from '../../organization/wake/wake.ts'
import type { Context } from '../../platform/context.ts'
import { argvOf } from '../../platform/programs.ts'
import { planRun, type RunPlan } from '../executor/prepare.ts'
import { createIsolation } from '../isolation/isolation.ts'
import { createProbe } from '../process/capabilities.ts'
import { MARKER } from '../process/process-table.ts'
import { listBlockingConditions, StartCondition } from '../scheduler/start-conditions.ts'
import { sharedFolderNotes } from './shared-folder.ts'

/** The plan of an agent's next run. The fields of the command are null if the configuration is unusable; see `gates`. */
export const Rehearsal = v.strictObject({
  agentId: field.id,
  agentName: v.string(),
  wouldRun: v.pipe(v.boolean(), v.description('Whether no condition or problem prevents the run.')),
  gates: v.array(StartCondition),
  notes: v.pipe(
    v.array(v.string()),
    v.description('The restrictions of the run, and the checks that the rehearsal omitted.'),
  ),
  wakeReason: v.picklist(WAKE_SOURCES),
  reasons: v.array(Reason),
  issueId: v.nullable(field.id),
  adapterType: v.string(),
  argv: v.nullable(v.array(v.string())),
  cwd: v.nullable(v.string()),
  prompt: v.nullable(v.string()),
  environment: v.pipe(
    v.nullable(v.array(v.string())),
    v.description('The names of the environment variables, sorted.'),
  ),
  session: v.nullable(
    v.strictObject({
      mode: v.picklist(['resumed', 'fresh']),
      id: v.pipe(v.nullable(v.string()), v.description('The id of the resumed session.')),
    }),
  ),
  limits: v.nullable(
    v.strictObject({
      timeoutSec: v.nullable(field.integer),
      silenceSec: v.nullable(field.integer),
      graceSec: field.integer,
      logBytes: field.integer,
    }),
  ),
})
export type Rehearsal = v.InferOutput<typeof Rehearsal>

/** The placeholders of a rehearsal for values that only a real run has. */
export const RUN_ID = '<run id>'
export const SESSION_ID = '<new session id>'

/**
 * Plans the next run of an agent without starting it: the run of its waiting
 * wake, or one that the caller would start now. It spends and changes nothing.
 *
 * @param issueId adds a wake for this issue, merged into the waiting wake as a real one
 */
export async function rehearse(
  ctx: Context,
  caller: Caller,
  agent: AgentRow,
  issueId: string | null,
): Promise<Rehearsal> {
  const wake = nextWake(ctx, caller, agent, issueId)
  const reasons = JSON.parse(wake.reasons) as WakeReason[]
  const run = {
    id: RUN_ID,
    company_id: agent.company_id,
    agent_id: agent.id,
    issue_id: wake.issue_id,
    adapter_type: agent.adapter_type,
    source: reasons[0]!.source,
    reasons: wake.reasons,
  }
  const dependencies = {
    apiUrl: '',
    probe: createProbe(ctx.config.environment),
    isolation: createIsolation(ctx.config.environment.PATH),
    postProgram: argvOf('post'),
  }
  const isBoard = caller.type === 'board'
  const own = {
    token: REDACTED,
    newSessionId: SESSION_ID,
    // A program runs only if the board has approved the configuration, and only for the board.
    examinesProgram: isBoard && agent.config_approved === 1,
    readsInstructions: isBoard,
    skills: async () => plannedSkills(ctx, agent.id),
  }
  // An agent with the adapter none has no command. Its start condition explains that.
  const plan = agent.adapter_type === 'none' ? NO_PLAN : await planRun(ctx, run, own, dependencies)
  const gates = [
    ...listBlockingConditions(ctx, agent, wake),
    ...plan.problems.map(({ code, message }) => ({ code, effect: 'fails' as const, message })),
  ]
  return {
    agentId: agent.id,
    agentName: agent.name,
    wouldRun: gates.length === 0,
    gates,
    notes: [...notesOf(ctx, agent, isBoard), ...sharedFolderNotes(ctx.db, agent, plan.prepared?.spec.cwd)],
    wakeReason: run.source,
    reasons,
    issueId: run.issue_id,
    adapterType: run.adapter_type,
    ...describePlan(plan),
  }
}

function notesOf(ctx: Context, agent: AgentRow, isBoard: boolean): string[] {
  const isApproved = agent.config_approved === 1
  const shell = shellWarning(agent.adapter_type, JSON.parse(agent.adapter_config))
  return [
    ...(isApproved || agent.status === 'pending_approval' ? [] : [RESTRICTED]),
    ...(shell === undefined ? [] : [shell]),
    ...secretNotes(ctx, agent),
    ...(isApproved
      ? []
      : ['The rehearsal did not examine the program: the board has not approved this configuration.']),
    ...(isBoard
      ? []
      : ['The rehearsal did not examine the program and read no file: only the board may see their content.']),
  ]
}

function secretNotes(ctx: Context, agent: AgentRow): string[] {
  const missing = missingSecrets(ctx, agent)
  return missing.length === 0 ? [] : [`These secrets are missing: ${missing.join(', ')}.`]
}

const RESTRICTED =
  'The run is restricted: no person has approved the configuration. The program shows permission prompts, the timer is off, and paths that agents set may point only to allowed folders.'

const NO_PLAN: RunPlan = { problems: [], prepared: null }

function nextWake(ctx: Context, caller: Caller, agent: AgentRow, issueId: string | null) {
  const waiting = findWaitingWake(ctx.db, { agentId: agent.id })
  if (waiting && issueId === null) return waiting
  const want = { agentId: agent.id, source: 'on_demand' as const, issueId }
  return mergeRequest(waiting, want, [toReason(caller, want, ctx.now)])
}

function describePlan({ prepared }: RunPlan) {
  if (!prepared) return { argv: null, cwd: null, prompt: null, environment: null, session: null, limits: null }
  const { spec } = prepared
  const { argv, prompt } = redact({ argv: [spec.command, ...spec.args], prompt: prepared.prompt })
  const { session } = spec.reader
  return {
    argv: argv as string[],
    cwd: spec.cwd,
    prompt: prompt as string,
    environment: [...new Set([...Object.keys(spec.env), MARKER])].sort(),
    session: { mode: session ? ('resumed' as const) : ('fresh' as const), id: session?.id ?? null },
    limits: {
      timeoutSec: spec.timeoutSec,
      silenceSec: spec.silenceSec,
      graceSec: spec.graceSec,
      logBytes: spec.logCap,
    },
  }
}
