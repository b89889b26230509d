import type { ApprovalRow } from './approval.ts'

/** The fields of payloads that a title names. */
interface Payload {
  name?: string
  role?: string
  title?: string | null
  folder?: string
}

/**
 * Summarizes an approval in one line: `Hire Nora, researcher`.
 *
 * @param of.agent the name of the agent of a hire, or of the agent that needs a folder
 * @param of.requester the name of the agent that requests it; null for the board
 */
export function approvalTitle(of: {
  type: ApprovalRow['type']
  payload: string
  agent: string | null
  requester: string | null
}): string {
  const { name, role, title, folder } = JSON.parse(of.payload) as Payload
  switch (of.type) {
    case 'request_board_approval':
      return title ?? 'A question to the board'
    case 'hire_agent':
      return `Hire ${name ?? of.agent ?? 'an agent'}, ${(title ?? role ?? 'agent').toLowerCase()}`
    case 'allow_folder':
      return `Allow ${of.agent ?? 'an agent'} the folder ${folder ?? ''}`.trimEnd()
    case 'approve_ceo_strategy':
      return `Approve the strategy of ${of.requester ?? 'the board'}`
  }
}
