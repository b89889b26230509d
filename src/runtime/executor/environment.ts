import type { RunRow } from '../../organization/run/run.ts'
import type { WakeReason } from '../../organization/wake/wake.ts'

/** What of a run its variables tell. */
type RunIdentity = Pick<RunRow, 'id' | 'company_id' | 'agent_id' | 'issue_id' | 'source' | 'reasons'>

export interface RunPlace {
  apiUrl: string
  token: string
  workspaceCwd: string | null
  skillsDir: string | null
  approval: { id: string; status: string; issueIds: string[] } | null
}

/** The variables that tell a run who it is, why it runs and where (design, section 7). */
export function runVariables(run: RunIdentity, place: RunPlace): Record<string, string> {
  const reasons = JSON.parse(run.reasons) as WakeReason[]
  const commentId = reasons.findLast((reason) => reason.commentId !== null)?.commentId
  const variables: Record<string, string | null | undefined> = {
    SERVICE_API_URL: place.apiUrl,
    SERVICE_API_KEY: place.token,
    SERVICE_AGENT_ID: run.agent_id,
    SERVICE_COMPANY_ID: run.company_id,
    SERVICE_RUN_ID: run.id,
    SERVICE_WAKE_REASON: run.source,
    SERVICE_TASK_ID: run.issue_id,
    SERVICE_WAKE_COMMENT_ID: commentId,
    SERVICE_APPROVAL_ID: place.approval?.id,
    SERVICE_APPROVAL_STATUS: place.approval?.status,
    SERVICE_LINKED_ISSUE_IDS: place.approval?.issueIds.join(','),
    SERVICE_WORKSPACE_CWD: place.workspaceCwd,
    SERVICE_SKILLS_DIR: place.skillsDir,
  }
  return Object.fromEntries(Object.entries(variables).filter((entry): entry is [string, string] => entry[1] != null))
}
