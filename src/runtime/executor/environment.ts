import type { Wake } from '../../adapter/adapter.ts'
import type { RunRow } from '../../organization/run/run.ts'

/** The columns of a run that its environment variables contain. */
type RunIdentity = Pick<RunRow, 'id' | 'company_id' | 'agent_id' | 'issue_id' | 'source'>

export interface RunEnvironment {
  apiUrl: string
  token: string
  workspaceCwd: string | null
  skillsDir: string | null
  approval: { id: string; status: string; issueIds: string[] } | null
  wake: Pick<Wake, 'commentId' | 'causes'>
  /** The span of the run in the form of W3C Trace Context, if tracing is on. */
  traceparent: string | null
}

/**
 * Returns the environment variables of a run, `SERVICE_*`: its API access, its
 * ids, the reason of its wake and its directories; and `TRACEPARENT`. Unset
 * values are left out.
 */
export function runVariables(run: RunIdentity, environment: RunEnvironment): Record<string, string> {
  const variables: Record<string, string | null | undefined> = {
    SERVICE_API_URL: environment.apiUrl,
    SERVICE_API_KEY: environment.token,
    SERVICE_AGENT_ID: run.agent_id,
    SERVICE_COMPANY_ID: run.company_id,
    SERVICE_RUN_ID: run.id,
    SERVICE_WAKE_REASON: run.source,
    SERVICE_TASK_ID: run.issue_id,
    SERVICE_WAKE_COMMENT_ID: environment.wake.commentId,
    SERVICE_WAKE_CAUSES: JSON.stringify(environment.wake.causes),
    SERVICE_APPROVAL_ID: environment.approval?.id,
    SERVICE_APPROVAL_STATUS: environment.approval?.status,
    SERVICE_LINKED_ISSUE_IDS: environment.approval?.issueIds.join(','),
    SERVICE_WORKSPACE_CWD: environment.workspaceCwd,
    SERVICE_SKILLS_DIR: environment.skillsDir,
    TRACEPARENT: environment.traceparent,
  }
  return Object.fromEntries(Object.entries(variables).filter((entry): entry is [string, string] => entry[1] != null))
}
