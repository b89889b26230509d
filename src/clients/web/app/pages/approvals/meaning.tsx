import { money } from '../../kit/format.ts'
import { Markdown } from '../../kit/markdown.tsx'
import { agents, nameOf, pathTo } from '../../state/company.ts'
import type { Approval } from '../../state/types.ts'

/** The fields of a hire's payload that are displayed. */
interface Hire {
  name?: string
  role?: string
  title?: string | null
  reportsTo?: string | null
  capabilities?: string | null
  adapterType?: string
  adapterConfig?: Record<string, unknown>
  budgetMonthlyCents?: number
  runs?: Record<string, unknown>
}

/** The payload of a question to the board. */
interface BoardRequest {
  title?: string
  question?: string | null
  options?: readonly string[]
  recommended?: string | null
}

export const boardRequestOf = (approval: Approval) => approval.payload as BoardRequest

/** Summarizes an approval in one line. */
export function approvalTitle(approval: Approval): string {
  if (approval.type === 'request_board_approval') return boardRequestOf(approval).title ?? 'A question to the board'
  const hire = approval.payload as Hire
  if (approval.type === 'hire_agent') {
    return `Hire ${hire.name ?? agents.get(approval.agentId)?.name ?? 'an agent'}, ${(hire.title ?? hire.role ?? 'agent').toLowerCase()}`
  }
  if (approval.type === 'allow_folder') {
    const { folder } = approval.payload as { folder?: string }
    return `Allow ${nameOf({ agentId: approval.agentId })} the folder ${folder ?? ''}`
  }
  return `Approve the strategy of ${nameOf({ agentId: approval.requestedByAgentId, userId: approval.requestedByUserId })}`
}

/** Summarizes the effect of an approval in one line: `runs claude · reports to Mara · at most $20.00 a month`. */
export function approvalSummary(approval: Approval): string {
  const requester = `requested by ${nameOf({ agentId: approval.requestedByAgentId, userId: approval.requestedByUserId })}`
  if (approval.type === 'allow_folder')
    return `named by ${(approval.payload as { key?: string }).key ?? 'its configuration'}`
  if (approval.type !== 'hire_agent') return requester
  const hire = approval.payload as Hire
  return [
    `runs ${commandOf(hire)}`,
    hire.reportsTo && `reports to ${nameOf({ agentId: hire.reportsTo })}`,
    hire.budgetMonthlyCents ? `at most ${money(hire.budgetMonthlyCents)} a month` : 'no budget limit',
    requester,
  ]
    .filter(Boolean)
    .join(' · ')
}

const commandOf = ({ adapterConfig = {}, adapterType = '' }: Hire): string =>
  [adapterConfig.command, adapterConfig.url].find((one): one is string => typeof one === 'string') ??
  DEFAULT_COMMANDS[adapterType] ??
  adapterType

/** The details of an approval: the new agent, its manager, its program and its budget. */
export function ApprovalMeaning({ approval }: { approval: Approval }) {
  if (approval.type === 'allow_folder') return <FolderMeaning approval={approval} />
  if (approval.type === 'request_board_approval') {
    const { question, options = [], recommended } = boardRequestOf(approval)
    return (
      <div class="meaning">
        {question && <Markdown text={question} />}
        {approval.status !== 'pending' && options.length > 0 && (
          <p class="note">
            Options: {options.join(', ')}
            {recommended && `; recommended: ${recommended}`}
          </p>
        )}
        {approval.chosenOption && (
          <p>
            Chosen: <b>{approval.chosenOption}</b>
          </p>
        )}
      </div>
    )
  }
  if (approval.type !== 'hire_agent') {
    const { plan, ...rest } = approval.payload
    return (
      <div class="meaning">
        {typeof plan === 'string' ? <Markdown text={plan} /> : <pre>{JSON.stringify(plan ?? rest, null, 2)}</pre>}
      </div>
    )
  }
  const hire = approval.payload as Hire
  const model = hire.adapterConfig?.model
  const cwd = hire.adapterConfig?.cwd
  return (
    <div class="meaning">
      <dl>
        <dt>Reports to</dt>
        <dd>{hire.reportsTo ? nameOf({ agentId: hire.reportsTo }) : 'Nobody'}</dd>
        <dt>Runs</dt>
        <dd>
          <code>{commandOf(hire)}</code>
          {typeof model === 'string' && ` with ${model}`}
          {typeof cwd === 'string' && (
            <>
              {' in '}
              <code>{cwd}</code>
            </>
          )}
        </dd>
        <dt>Budget</dt>
        <dd>{hire.budgetMonthlyCents ? `${money(hire.budgetMonthlyCents)} a month` : 'No limit'}</dd>
        {hire.capabilities && (
          <>
            <dt>For</dt>
            <dd>{hire.capabilities}</dd>
          </>
        )}
        {Object.entries(hire.runs ?? {})
          .filter(([key]) => key !== 'command' && key !== 'url')
          .map(([key, value]) => [
            <dt key={`${key}-name`}>{key}</dt>,
            <dd key={key}>
              <code>{typeof value === 'string' ? value : JSON.stringify(value)}</code>
            </dd>,
          ])}
      </dl>
    </div>
  )
}

/** The details of a folder approval: the path that leads to the folder, and the scope of the permission. */
function FolderMeaning({ approval }: { approval: Approval }) {
  const { folder, path, key, runId } = approval.payload as Partial<Record<string, string>>
  return (
    <div class="meaning">
      <dl>
        <dt>Folder</dt>
        <dd>
          <code>{folder}</code>
        </dd>
        {path !== folder && (
          <>
            <dt>Path</dt>
            <dd>
              <code>{path}</code> by {key}
            </dd>
          </>
        )}
        <dt>Once</dt>
        <dd>The next run of {nameOf({ agentId: approval.agentId })} may work there.</dd>
        <dt>Always</dt>
        <dd>Every agent of the company may work there from now on.</dd>
        {runId && (
          <>
            <dt>Issue</dt>
            <dd>
              <a class="link" href={pathTo(`runs/${runId}`)}>
                its run
              </a>
            </dd>
          </>
        )}
      </dl>
    </div>
  )
}

const DEFAULT_COMMANDS: Record<string, string> = { runtimeA_local: 'claude', runtimeB_local: 'codex' }
