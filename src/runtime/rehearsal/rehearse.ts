import * as v from 'valibot'
import type { Caller } from '../../access/caller/caller.ts'
import { REDACTED, redactConfig } from '../../access/redaction/redact.ts'
import * as field from '../../http/fields.ts'
import type { AgentRow } from '../../organization/agent/agent.ts'
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

/** What an agent's next run would be. Fields are null when not even the command can be told; see the gates. */
export const Rehearsal = v.strictObject({
  agentId: field.id,
  agentName: v.string(),
  wouldRun: v.pipe(v.boolean(), v.description('Whether nothing stands in its way.')),
  gates: v.array(StartCondition),
  notes: v.pipe(v.array(v.string()), v.description('What is restricted in the run, and what the rehearsal left out.')),
  wakeReason: v.picklist(WAKE_SOURCES),
  reasons: v.array(Reason),
  issueId: v.nullable(field.id),
  adapterType: v.string(),
  argv: v.nullable(v.array(v.string())),
  cwd: v.nullable(v.string()),
  prompt: v.nullable(v.string()),
  environment: v.pipe(v.nullable(v.array(v.string())), v.description('The names of the variables, sorted.')),
  session: v.nullable(
    v.strictObject({
      mode: v.picklist(['resumed', 'fresh']),
      id: v.pipe(v.nullable(v.string()), v.description('Of a session that is resumed.')),
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

/** Stand in a rehearsal for what only a run has. */
export const RUN_ID = '<run id>'
export const SESSION_ID = '<new session id>'

/**
 * Says exactly what the agent's next run would be: the one that its waiting
 * wake leads to, or else one by hand. Naming an issue adds an invocation on
 * it, as the real one would be merged. Spends, starts and changes nothing.
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
    // Nothing of a configuration runs before the board has approved it, and never for an agent.
    examinesProgram: isBoard && agent.config_approved === 1,
    readsInstructions: isBoard,
    skills: async () => plannedSkills(ctx, agent.id),
  }
  // What works elsewhere has no command; the gates say so.
  const plan = agent.adapter_type === 'none' ? NO_PLAN : await planRun(ctx, run, own, dependencies)
  const gates = [
    ...listBlockingConditions(ctx, agent, wake.not_before),
    ...plan.problems.map(({ code, message }) => ({ code, effect: 'fails' as const, message })),
  ]
  return {
    agentId: agent.id,
    agentName: agent.name,
    wouldRun: gates.length === 0,
    gates,
    notes: [...notesOf(agent, isBoard), ...sharedFolderNotes(ctx.db, agent, plan.prepared?.spec.cwd)],
    wakeReason: run.source,
    reasons,
    issueId: run.issue_id,
    adapterType: run.adapter_type,
    ...shown(plan),
  }
}

function notesOf(agent: AgentRow, isBoard: boolean): string[] {
  const isApproved = agent.config_approved === 1
  return [
    ...(isApproved || agent.status === 'pending_approval' ? [] : [RESTRICTED]),
    ...(isApproved ? [] : ['The program was not examined: the board has not approved this configuration.']),
    ...(isBoard ? [] : ['The program was not examined and no file was read: only the board sees what they contain.']),
  ]
}

const RESTRICTED =
  'Runs restricted: no person has approved its configuration. The program asks for permissions, its timer is off, and paths that agents set lead only to allowed folders.'

const NO_PLAN: RunPlan = { problems: [], prepared: null }

function nextWake(ctx: Context, caller: Caller, agent: AgentRow, issueId: string | null) {
  const waiting = findWaitingWake(ctx.db, { agentId: agent.id })
  if (waiting && issueId === null) return waiting
  const want = { agentId: agent.id, source: 'on_demand' as const, issueId }
  return mergeRequest(waiting, want, toReason(caller, want, ctx.now))
}

function shown({ prepared }: RunPlan) {
  if (!prepared) return { argv: null, cwd: null, prompt: null, environment: null, session: null, limits: null }
  const { spec } = prepared
  const { argv, prompt } = redactConfig({ argv: [spec.command, ...spec.args], prompt: prepared.prompt })
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
