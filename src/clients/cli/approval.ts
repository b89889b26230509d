import type { ResponseOf } from '../client/types.ts'
import { agentNames, findId, inCompany } from './find.ts'
import { ago, fields, localTime, plain, shortId, table, words } from './output.ts'
import { clientOf, list, noun, type Options, show, verb, withLimit } from './verb.ts'

type Approval = ResponseOf<'GET /api/approvals/:approvalId'>

export const approvalCommand = () =>
  noun('approval', 'Approvals: requests that the board decides.', [
    withLimit(
      verb('list', 'List the approvals, the latest first.', ['approval list', 'approval list --status approved']),
    )
      .option('-s, --status <list>', 'separated by commas, or all', 'pending,revision_requested')
      .action(listAll),
    verb('show', 'Show an approval with its payload.', ['approval show 1f3b5d7e'])
      .argument('<approval>', 'its id')
      .action(showOne),
    ...(
      [
        ['approve', 'Approve.', 'approval approve 1f3b5d7e --note "Go ahead."'],
        ['reject', 'Reject.', 'approval reject 1f3b5d7e --note "Too expensive."'],
        ['request-revision', 'Ask for a revision.', 'approval request-revision 1f3b5d7e --note "Say why."'],
      ] as const
    ).map(([name, description, example]) =>
      verb(name, description, [example])
        .argument('<approval>', 'its id')
        .option('--note <text>', 'why')
        .action((ref, options) => decide(ref, name, options)),
    ),
  ])

async function listAll(options: Options & { status: string; limit: string }): Promise<void> {
  const { client, companyId } = await inCompany(options)
  const status = options.status === 'all' ? undefined : options.status
  const approvals = await list(client, 'GET /api/companies/:companyId/approvals', {
    params: { companyId },
    query: { status, limit: options.limit },
  })
  const nameOf = options.json ? () => '' : await agentNames(client, companyId)
  show(options, approvals, () => {
    const rows = approvals.map((approval) => [
      shortId(approval.id),
      words(approval.type),
      words(approval.status),
      nameOf(approval.requestedByAgentId) || 'the board',
      subjectOf(approval),
      ago(approval.createdAt),
    ])
    return table([['Id', 'Type', 'Status', 'Requested by', 'Subject', 'Age'], ...rows])
  })
}

/** Describes the payload of an approval in a few words. */
const subjectOf = ({ payload }: Approval): string =>
  [payload.name, payload.role, payload.title, payload.plan].filter((part) => typeof part === 'string').join(', ')

async function showOne(ref: string, options: Options): Promise<void> {
  const approvalId = await findId(options, 'approval', ref)
  const approval = await clientOf(options).request('GET /api/approvals/:approvalId', { params: { approvalId } })
  show(options, approval, () => {
    const about = fields([
      ['Approval', words(approval.type)],
      ['Status', words(approval.status)],
      ['Requested', localTime(approval.createdAt)],
      ['Decided', approval.decidedAt && localTime(approval.decidedAt)],
      ['Note', approval.decisionNote],
      ['Id', approval.id],
    ])
    return `${about}\n\n${plain(JSON.stringify(approval.payload, null, 2))}`
  })
}

type Decision = 'approve' | 'reject' | 'request-revision'

async function decide(ref: string, decision: Decision, options: Options & { note?: string }): Promise<void> {
  const approvalId = await findId(options, 'approval', ref)
  const approval = await clientOf(options).request(`POST /api/approvals/:approvalId/${decision}`, {
    params: { approvalId },
    body: { decisionNote: options.note },
  })
  show(options, approval, () => `The ${words(approval.type)} approval is ${words(approval.status)}.`)
}
