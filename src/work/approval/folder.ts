import { recordActivity } from '../../access/activity/record.ts'
import { type Caller, SYSTEM } from '../../access/caller/caller.ts'
import { redact } from '../../access/redaction/redact.ts'
import { allowFolderOnce } from '../../organization/agent/approved-config.ts'
import { configOf } from '../../organization/agent/configuration.ts'
import { activateAgent } from '../../organization/agent/pause.ts'
import { findAgent } from '../../organization/agent/queries.ts'
import { changeCompany } from '../../organization/company/change.ts'
import { findCompany } from '../../organization/company/queries.ts'
import type { RunRow } from '../../organization/run/run.ts'
import type { Context } from '../../platform/context.ts'
import { uuid } from '../../platform/uuid.ts'
import type { ApprovalRow } from './approval.ts'
import { whatRuns } from './hire-payload.ts'
import { findFolderApproval, insertApproval, insertApprovalLink } from './queries.ts'

/** A folder that a run needs and that the board has not allowed. */
export interface FolderRequest {
  /** The setting that contains the path. */
  key: 'cwd' | 'instructionsFilePath' | 'workspace'
  /** The configured path. */
  path: string
  /** The folder that the board would allow, with all symbolic links followed. */
  folder: string
}

/**
 * Requests the board's permission for an agent to use a folder, unless such a
 * request is undecided or was rejected. When the board allows the folder, the
 * agent is woken on the issue of the run.
 */
export function requestFolder(
  ctx: Context,
  run: Pick<RunRow, 'id' | 'company_id' | 'agent_id' | 'issue_id'>,
  want: FolderRequest,
): void {
  if (findFolderApproval(ctx.db, { agentId: run.agent_id, folder: want.folder })) return
  const agent = findAgent(ctx.db, { id: run.agent_id })!
  const { adapterType, adapterConfig } = configOf(ctx, agent)
  const runs = redact({ adapterType, ...whatRuns({ adapterType, adapterConfig }) })
  const approval = insertApproval(ctx.db, {
    id: uuid(),
    company_id: run.company_id,
    type: 'allow_folder',
    requested_by_agent_id: run.agent_id,
    agent_id: run.agent_id,
    payload: JSON.stringify({ agentId: run.agent_id, agentName: agent.name, runId: run.id, ...want, runs }),
    created_at: ctx.now,
    updated_at: ctx.now,
  })
  if (run.issue_id !== null) insertApprovalLink(ctx.db, { approvalId: approval.id, issueId: run.issue_id })
  recordActivity(ctx, SYSTEM, {
    companyId: run.company_id,
    action: 'approval.created',
    entity: { type: 'approval', id: approval.id },
    agentId: run.agent_id,
    details: { type: approval.type, folder: want.folder },
  })
}

/** Applies the board's decision: allows the folder for the agent's next run, or permanently for the whole company. */
export function allowFolder(ctx: Context, caller: Caller, approval: ApprovalRow, extent: 'once' | 'always'): void {
  const { folder } = JSON.parse(approval.payload) as FolderRequest
  if (extent === 'once') allowFolderOnce(ctx, approval.agent_id!, folder)
  else {
    const allowed: string[] = JSON.parse(findCompany(ctx.db, { id: approval.company_id })!.allowed_folders)
    changeCompany(ctx, caller, approval.company_id, { allowedFolders: [...allowed, folder] })
  }
  const agent = findAgent(ctx.db, { id: approval.agent_id! })!
  // Runs that failed because of the folder may have paused the agent.
  if (agent.status === 'paused' && agent.pause_reason === 'failures') activateAgent(ctx, caller, agent)
}
