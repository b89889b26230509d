import type { ResponseOf } from '../../client/types.ts'
import { CliError, EXIT } from '../../connection/exit-codes.ts'
import { choice, choices, json, LIMIT, many, reference, text, toggle, withDefault } from '../command/flag.ts'
import { ago, fields, localTime, paint, plain, shortId, words } from '../command/output.ts'
import type { Scope } from '../command/scope.ts'
import { act, create, list, noun, view } from '../command/verb.ts'

type Approval = ResponseOf<'GET /api/approvals/:approvalId'>

const OPEN = 'pending,revision_requested'
const STATUSES = ['pending', 'revision_requested', 'approved', 'rejected', 'cancelled', 'all']

const theApproval = async (scope: Scope, ref: string) => ({ approvalId: await scope.find('approval', ref) })

/** Describes the payload of an approval in a few words. */
const subjectOf = ({ payload }: Approval): string =>
  [payload.name, payload.role, payload.title, payload.folder, payload.plan]
    .filter((part) => typeof part === 'string')
    .join(', ')

/** Finds an approval for a decision. `latest` is the latest one with one of the statuses. */
async function theOpen(scope: Scope, ref: string, statuses = 'pending') {
  if (ref !== 'latest') return theApproval(scope, ref)
  const [latest] = await scope.client.request('GET /api/companies/:companyId/approvals', {
    params: await scope.inCompany(),
    query: { status: statuses, limit: 1 },
  })
  if (latest) return { approvalId: latest.id }
  throw new CliError(EXIT.notFound, `No approval is ${words(statuses.replace(',', ' or '))}.`)
}

/** Names an approval: `The hire of Nora`. */
function nameOf({ type, payload }: Approval): string {
  const { name, title, folder } = payload as { name?: string; title?: string; folder?: string }
  if (type === 'hire_agent') return `The hire${name ? ` of ${plain(name)}` : ''}`
  if (type === 'request_board_approval') return `The request "${plain(title ?? '')}"`
  return type === 'allow_folder' ? `The request for the folder ${plain(folder ?? '')}` : 'The strategy'
}

const isNow = (approval: Approval) =>
  `${nameOf(approval)} is ${words(approval.status)}${approval.chosenOption ? `: ${plain(approval.chosenOption)}` : ''}.`

const NOTE = { decisionNote: text('--note <text>', 'why') }

export const approvalCommand = () =>
  noun('approval', 'Approvals: requests for decisions of the board.', [
    list({
      summary: 'List the approvals, the latest first.',
      flags: {
        ...LIMIT,
        status: withDefault(choices('-s, --status <list>', STATUSES, 'separated by commas'), OPEN),
      },
      examples: ['approval list', 'approval list --status all'],
      empty: ({ status }) =>
        status === 'all'
          ? 'There are no approvals yet. Hires and requests of agents appear here; `service approval create` makes a request.'
          : status === OPEN
            ? 'No approval is pending. `service approval list --status all` lists the others.'
            : 'There are no such approvals.',
      page: 'approvals',
      load: async (scope, { limit, status }) =>
        scope.client.page('GET /api/companies/:companyId/approvals', {
          params: await scope.inCompany(),
          query: { limit, ...(status !== 'all' && { status }) },
        }),
      async columns(scope) {
        const agentName = await scope.agentNames()
        return {
          Id: ({ id }) => shortId(id),
          Type: ({ type }) => words(type),
          Status: ({ status }) => words(status),
          'Requested by': ({ requestedByAgentId }) => agentName(requestedByAgentId) || 'the board',
          Subject: subjectOf,
          Age: ({ createdAt }) => ago(createdAt),
        }
      },
    }),
    view({
      summary: 'Show an approval with its payload and comments.',
      args: ['<approval>'],
      examples: ['approval view latest'],
      page: () => 'approvals',
      async load(scope, [ref]) {
        const params = await theApproval(scope, ref)
        const [approval, comments, issues] = await Promise.all([
          scope.client.request('GET /api/approvals/:approvalId', { params }),
          scope.client.request('GET /api/approvals/:approvalId/comments', { params }),
          scope.client.request('GET /api/approvals/:approvalId/issues', { params }),
        ])
        return { ...approval, comments, issues }
      },
      async text({ comments, issues, ...approval }, scope) {
        const agentName = await scope.agentNames()
        const head = fields([
          ['Approval', words(approval.type)],
          ['Status', words(approval.status)],
          ['Requested by', agentName(approval.requestedByAgentId) || 'the board'],
          ['Issues', issues.map(({ identifier }) => identifier).join(', ')],
          ['Requested', localTime(approval.createdAt)],
          ['Decided', approval.decidedAt && localTime(approval.decidedAt)],
          ['Option', approval.chosenOption],
          ['Note', approval.decisionNote],
          ['Id', approval.id],
        ])
        const thread = comments.map(
          (one) =>
            `${paint('strong', agentName(one.authorAgentId) || 'The board')}  ${paint('quiet', localTime(one.createdAt))}\n${plain(one.body)}`,
        )
        return [head, plain(JSON.stringify(approval.payload, null, 2)), ...thread].join('\n\n')
      },
    }),
    create({
      summary: 'Request an approval from the board.',
      args: ['<title>'],
      flags: {
        type: withDefault(
          choice('--type <type>', ['request_board_approval', 'approve_ceo_strategy']),
          'request_board_approval',
        ),
        question: text('--question <text>', 'markdown: what is needed to decide'),
        options: many(text('--options <list>', 'what the board may choose, separated by commas')),
        recommended: text('--recommended <option>', 'the option that you recommend'),
        plan: text('--plan <text>', 'of a strategy'),
        requestedByAgentId: reference('agent', '--agent <agent>', 'the requesting agent (default: the caller)'),
        issueIds: many(text('--issues <list>', 'the issues that it is about, separated by commas')),
      },
      examples: ['approval create "Buy the domain?" --options "Buy,Wait" --recommended Buy --agent Ada --issues TER-6'],
      send: async (scope, [title], { type, requestedByAgentId, issueIds, ...payload }) =>
        scope.client.request('POST /api/companies/:companyId/approvals', {
          params: await scope.inCompany(),
          body: {
            type,
            payload: { title, ...payload },
            ...(requestedByAgentId !== undefined && { requestedByAgentId }),
            ...(issueIds !== undefined && { issueIds }),
          },
        }),
      text: (approval) => `${isNow(approval)} Its id is ${shortId(approval.id)}.`,
    }),
    act({
      name: 'approve',
      summary: 'Approve.',
      args: ['<approval>'],
      flags: {
        ...NOTE,
        option: text('--option <option>', 'of a request with options (default: the recommended one)'),
        allow: {
          ...toggle('--always', 'of a folder: allow it to the company, not only once'),
          parse: () => 'always' as const,
        },
      },
      examples: ['approval approve latest --note "Go ahead."'],
      send: async (scope, [ref], body) =>
        scope.client.request('POST /api/approvals/:approvalId/approve', {
          params: await theOpen(scope, ref),
          body,
        }),
      text: isNow,
    }),
    act({
      name: 'reject',
      summary: 'Reject.',
      args: ['<approval>'],
      flags: NOTE,
      examples: ['approval reject latest --note "Too expensive."'],
      send: async (scope, [ref], body) =>
        scope.client.request('POST /api/approvals/:approvalId/reject', { params: await theOpen(scope, ref), body }),
      text: isNow,
    }),
    act({
      name: 'request-revision',
      summary: 'Request a revision.',
      args: ['<approval>'],
      flags: NOTE,
      examples: ['approval request-revision latest --note "Say why."'],
      send: async (scope, [ref], body) =>
        scope.client.request('POST /api/approvals/:approvalId/request-revision', {
          params: await theOpen(scope, ref),
          body,
        }),
      text: isNow,
    }),
    act({
      name: 'resubmit',
      summary: 'Submit a revised approval again.',
      args: ['<approval>'],
      flags: { payload: json<Record<string, unknown>>('--payload <json>', 'the revised payload') },
      examples: ['approval resubmit latest --payload \'{"title":"Buy the domain for a year?"}\''],
      send: async (scope, [ref], body) =>
        scope.client.request('POST /api/approvals/:approvalId/resubmit', {
          params: await theOpen(scope, ref, 'revision_requested'),
          body,
        }),
      text: isNow,
    }),
    act({
      name: 'cancel',
      summary: 'Cancel a requested approval.',
      args: ['<approval>'],
      examples: ['approval cancel latest'],
      send: async (scope, [ref]) =>
        scope.client.request('POST /api/approvals/:approvalId/cancel', {
          params: await theOpen(scope, ref, OPEN),
          body: {},
        }),
      text: isNow,
    }),
    act({
      name: 'comment',
      summary: 'Comment on an approval.',
      args: ['<approval>', '<text>'],
      examples: ['approval comment latest "What does it cost a year?"'],
      send: async (scope, [ref, body]) =>
        scope.client.request('POST /api/approvals/:approvalId/comments', {
          params: await theApproval(scope, ref),
          body: { body },
        }),
      text: () => 'Commented on the approval.',
    }),
  ])
