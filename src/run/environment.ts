import type { RunRow } from './run.ts'
import type { WakeReason } from './wake.ts'

/** What a child sees of the server's environment: the user's own login and language live there, and nothing else of it. */
const PASSED_ON =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TERM|TMPDIR|XDG_\w+|SSH_AUTH_SOCK|HTTPS?_PROXY|NO_PROXY|https?_proxy|no_proxy|SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS|SYSTEMROOT)$/

/** The part of the server's environment that runs are given. */
export const passedOn = (env: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && PASSED_ON.test(entry[0]),
    ),
  )

export interface RunPlace {
  apiUrl: string
  token: string
  workspaceCwd: string | null
  skillsDir: string | null
  approval: { id: string; status: string; issueIds: string[] } | null
}

/** The variables that tell a run who it is, why it runs and where (design, section 7). */
export function runVariables(run: RunRow, place: RunPlace): Record<string, string> {
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
