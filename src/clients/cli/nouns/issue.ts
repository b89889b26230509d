import type { BodyOf, ResponseOf } from '../../client/types.ts'
import { CliError, EXIT } from '../../connection/exit-codes.ts'
import { editText, isInteractive } from '../command/ask.ts'
import { assigneeNames, personNames } from '../command/find.ts'
import { choice, choices, clearable, LIMIT, longText, many, reference, text, toggle } from '../command/flag.ts'
import { readText } from '../command/input.ts'
import { ago, fields, localTime, paint, plain, table, words } from '../command/output.ts'
import type { Scope } from '../command/scope.ts'
import { act, create, edit, list, noun, remove, verb, view } from '../command/verb.ts'
import { documentList } from './document.ts'
import { blockerLines, holdLines } from './held.ts'
import { lineOf } from './issue-line.ts'
import { questionVerbs } from './issue-questions.ts'
import { runColumns } from './run-columns.ts'

type Issue = ResponseOf<'GET /api/issues/:issueId'>
type IssueChange = BodyOf<'PATCH /api/issues/:issueId'>

const STATUSES = ['backlog', 'todo', 'in_progress', 'in_review', 'blocked', 'done', 'cancelled'] as const
const OPEN = 'backlog,todo,in_progress,in_review,blocked'

/** An assignee in the fields of the API: an agent or a person. */
type Assignee = Pick<IssueChange, 'assigneeAgentId' | 'assigneeUserId'>

/** Finds an agent, a member, or `@me`, the caller. */
async function assigneeOf(ref: string, scope: Scope): Promise<Assignee> {
  if (ref === 'none') return { assigneeAgentId: null, assigneeUserId: null }
  if (ref === '@me') {
    const { agentId, userId } = await scope.client.request('GET /api/whoami')
    return agentId === null ? { assigneeUserId: userId } : { assigneeAgentId: agentId }
  }
  try {
    return { assigneeAgentId: await scope.find('agent', ref), assigneeUserId: null }
  } catch (error) {
    const member = await scope.find('member', ref).catch(() => undefined)
    if (member === undefined) throw error
    return { assigneeUserId: member, assigneeAgentId: null }
  }
}

const assignee = { ...text('-a, --assignee <agent>', 'an agent, a member, @me, or none'), parse: assigneeOf }

const CHANGE = {
  description: clearable(longText('-d, --description <text>')),
  status: choice('-s, --status <status>', STATUSES),
  priority: choice('-p, --priority <priority>', ['critical', 'high', 'medium', 'low']),
  assignee,
  projectId: clearable(reference('project', '--project <project>')),
  goalId: clearable(reference('goal', '--goal <goal>')),
  parentId: clearable(text('--parent <parent>', 'an issue')),
  labelIds: many(reference('label', '--label <list>', 'labels, separated by commas; none removes all')),
  blockedByIssueIds: many(text('--blocked-by <list>', 'issues, separated by commas; none removes all')),
}

const comment = { ...text('--comment <text>', 'text or -'), parse: readComment }

/** Many comments begin with a mention, so `@Name` does not name a file here. */
async function readComment(given: string): Promise<string> {
  return given === '-' ? readText(given) : given
}

const bodyOf = <Given extends { assignee?: Assignee }>({ assignee: who, ...body }: Given) => ({ ...body, ...who })

const theIssue = (ref: string) => ({ issueId: ref })

const getIssue = async (scope: Scope, [ref]: readonly [string]) =>
  scope.client.request('GET /api/issues/:issueId', { params: theIssue(ref) })

const change = async (scope: Scope, ref: string, body: IssueChange) =>
  scope.client.request('PATCH /api/issues/:issueId', { params: theIssue(ref), body })

/** Describes an issue after a change that may wake an agent: its status, and what keeps the agent from working on it. */
async function describeNext(issue: Changed, scope: Scope): Promise<string> {
  const unknown = unknownLines(issue.comment?.unknownMentions)
  return [lineOf(issue), ...unknown, ...blockerLines(issue), ...(await holdLines(scope, issue.id))].join('\n')
}

type Changed = ResponseOf<'PATCH /api/issues/:issueId'>

const unknownLines = (names: readonly string[] = []) =>
  names.map((name) => `There is no agent and no person named ${plain(name)}.`)

export const issueCommand = () =>
  noun('issue', 'Issues: pieces of work with a status and one assignee.', [
    list({
      summary: 'List issues, the most urgent first.',
      flags: {
        ...LIMIT,
        status: choices('-s, --status <list>', STATUSES, 'only these, or all that are open by default'),
        assignee,
        projectId: reference('project', '--project <project>'),
        goalId: reference('goal', '--goal <goal>'),
        parentId: text('--parent <parent>', 'only the parts of this issue'),
        labelId: reference('label', '--label <label>'),
        unread: {
          ...toggle('--unread', 'only issues that others changed since you read them'),
          parse: () => 'true' as const,
        },
        q: text('-q, --query <words>', 'words to search for, in issues of any status'),
      },
      examples: [
        'issue list',
        'issue list --status todo,blocked --assignee Kit',
        'issue list --query "tide table"',
        'issue list --unread --status done',
        `issue list --jq '.[] | select(.priority == "high") | .identifier'`,
      ],
      empty: ({ limit: _, ...filter }) =>
        Object.keys(filter).length > 0
          ? 'There are no such issues.'
          : 'There are no open issues. `service issue list --status done,cancelled` lists the others, and `service issue create` creates one.',
      page: 'issues',
      load: async (scope, { assignee: who, ...filter }) =>
        scope.client.page('GET /api/companies/:companyId/issues', {
          params: await scope.inCompany(),
          query: {
            ...filter,
            ...(who?.assigneeAgentId && { assigneeAgentId: who.assigneeAgentId }),
            ...(who?.assigneeUserId && { assigneeUserId: who.assigneeUserId }),
            ...(who?.assigneeAgentId === null && who.assigneeUserId === null && { assigneeAgentId: 'none' }),
            ...(filter.status === undefined && filter.q === undefined && { status: OPEN }),
          },
        }),
      async columns(scope) {
        const assigneeName = await assigneeNames(scope.client, (await scope.inCompany()).companyId)
        return {
          Issue: ({ identifier }) => identifier,
          Title: ({ title }) => title,
          Status: ({ status }) => words(status),
          Priority: ({ priority }) => priority,
          Assignee: assigneeName,
          Changed: ({ updatedAt }) => ago(updatedAt),
        }
      },
    }),
    view({
      summary: 'Show an issue with its sub-issues and comments.',
      args: ['<issue>'],
      examples: ['issue view TER-6', 'issue view TER-6 --json=title,status'],
      page: ({ identifier }) => `issues/${identifier}`,
      async load(scope, [ref]) {
        const [issue, comments] = await Promise.all([
          getIssue(scope, [ref]),
          scope.client.request('GET /api/issues/:issueId/comments', { params: theIssue(ref) }),
        ])
        const subIssues = await scope.client.request('GET /api/companies/:companyId/issues', {
          params: { companyId: issue.companyId },
          query: { parentId: issue.id, limit: 100 },
        })
        return { ...issue, subIssues, comments }
      },
      text: describe,
    }),
    create({
      summary: 'Create an issue.',
      args: ['<title>'],
      flags: CHANGE,
      examples: [
        'issue create "Draw the coast" --assignee Kit --priority high',
        'issue create "Read the data" --parent TER-6 --description @data.md',
        'issue create "Print the table" --blocked-by TER-6 --assignee Kit',
      ],
      send: async (scope, [title], values) =>
        scope.client.request('POST /api/companies/:companyId/issues', {
          params: await scope.inCompany(),
          body: { ...bodyOf(values), title },
        }),
      text: describeNext,
    }),
    edit({
      summary: 'Change an issue.',
      args: ['<issue>'],
      flags: { title: text('--title <title>'), ...CHANGE, comment },
      examples: ['issue edit TER-6 --priority high', 'issue edit TER-6 --assignee none --parent none'],
      load: getIssue,
      send: (scope, [ref], values) => change(scope, ref, bodyOf(values)),
      text: describeNext,
    }),
    verb({
      name: 'comment',
      summary: 'Comment on an issue. @Name wakes an agent.',
      args: ['<issue>', '[text]'],
      examples: ['issue comment TER-6 "@Kit Which datum?"', 'issue comment TER-6 - < data.md'],
      note: 'The text is an argument, or - for standard input. Without a text your editor opens.',
      async run(scope, [ref, given]) {
        if (given === undefined && !isInteractive(scope.options)) {
          throw new CliError(EXIT.usage, 'Give the text of the comment, or - to read it from standard input.')
        }
        const body = given === undefined ? await editText(scope, '') : await readComment(given)
        const made = await scope.client.request('POST /api/issues/:issueId/comments', {
          params: theIssue(ref),
          body: { body },
        })
        return {
          value: made,
          async text() {
            const holds = await holdLines(scope, ref)
            return [`Commented on ${ref.toUpperCase()}.`, ...unknownLines(made.unknownMentions), ...holds].join('\n')
          },
        }
      },
    }),
    act({
      name: 'assign',
      summary: 'Assign an issue to an agent or a person.',
      args: ['<issue>', '<agent>'],
      examples: ['issue assign TER-6 Kit', 'issue assign TER-6 none'],
      send: async (scope, [ref, who]) => change(scope, ref, await assigneeOf(who, scope)),
      text: describeNext,
    }),
    act({
      name: 'checkout',
      summary: 'Check an issue out to an agent.',
      args: ['<issue>'],
      flags: { agentId: reference('agent', '--agent <agent>', 'default: the agent whose key this is') },
      examples: ['issue checkout TER-6 --agent Kit'],
      send: (scope, [ref], body) =>
        scope.client.request('POST /api/issues/:issueId/checkout', { params: theIssue(ref), body }),
      text: lineOf,
    }),
    act({
      name: 'release',
      summary: 'Release an issue: give up its ownership.',
      args: ['<issue>'],
      examples: ['issue release TER-6'],
      send: (scope, [ref]) => scope.client.request('POST /api/issues/:issueId/release', { params: theIssue(ref) }),
      text: lineOf,
    }),
    verb({
      name: 'done',
      alias: 'close',
      summary: 'Set an issue to done. An issue without an assignee is assigned to you.',
      args: ['<issue>'],
      flags: { comment },
      examples: ['issue done TER-6 --comment "It is drawn."'],
      async run(scope, [ref], body) {
        // A person closes from any open status, an agent by the transition that its status allows.
        const [{ type }, before] = await Promise.all([scope.client.request('GET /api/whoami'), getIssue(scope, [ref])])
        const after =
          type === 'agent'
            ? await change(scope, ref, { ...body, status: 'done' })
            : await scope.client.request('POST /api/issues/:issueId/close', { params: theIssue(ref), body })
        const isAssigned = before.assigneeUserId === null && after.assigneeUserId !== null
        return {
          value: after,
          text: () => `${lineOf(after)}${isAssigned ? '\nIt had no assignee and is now assigned to you.' : ''}`,
        }
      },
    }),
    act({
      name: 'cancel',
      summary: 'Cancel an issue.',
      args: ['<issue>'],
      flags: { comment },
      examples: ['issue cancel TER-6 --comment "Not needed."'],
      send: (scope, [ref], body) => change(scope, ref, { ...body, status: 'cancelled' }),
      text: lineOf,
    }),
    act({
      name: 'reopen',
      summary: 'Reopen an issue that is done or cancelled.',
      args: ['<issue>'],
      flags: { comment },
      examples: ['issue reopen TER-1 --comment "The datum is wrong."'],
      send: (scope, [ref], body) => change(scope, ref, { ...body, reopen: true }),
      text: describeNext,
    }),
    act({
      name: 'read',
      summary: 'Mark an issue as read.',
      args: ['<issue>'],
      examples: ['issue read TER-6'],
      send: (scope, [ref]) => scope.client.request('POST /api/issues/:issueId/read', { params: theIssue(ref) }),
      text: ({ identifier }) => `${identifier} is read.`,
    }),
    act({
      name: 'unread',
      summary: 'Mark an issue as unread.',
      args: ['<issue>'],
      examples: ['issue unread TER-6'],
      send: (scope, [ref]) => scope.client.request('DELETE /api/issues/:issueId/read', { params: theIssue(ref) }),
      text: ({ identifier }) => `${identifier} is unread.`,
    }),
    act({
      name: 'link',
      summary: 'Set which issues block an issue.',
      args: ['<issue>'],
      flags: { blockedByIssueIds: CHANGE.blockedByIssueIds },
      examples: ['issue link TER-6 --blocked-by TER-2', 'issue link TER-6 --blocked-by none'],
      async send(scope, [ref], body) {
        if (body.blockedByIssueIds === undefined) throw new CliError(EXIT.usage, 'Name the issues with --blocked-by.')
        return change(scope, ref, body)
      },
      text: ({ identifier, blockedBy }) =>
        blockedBy.length === 0
          ? `${identifier} is blocked by no issue.`
          : `${identifier} is blocked by ${blockedBy.map((one) => one.identifier).join(', ')}.`,
    }),
    act({
      name: 'label',
      summary: 'Add labels to an issue, or remove them.',
      args: ['<issue>'],
      flags: {
        add: many(reference('label', '--add <list>', 'labels, separated by commas')),
        remove: many(reference('label', '--remove <list>', 'labels, separated by commas')),
      },
      examples: ['issue label TER-6 --add bug'],
      async send(scope, [ref], { add = [], remove: removed = [] }) {
        if (add.length + removed.length === 0) throw new CliError(EXIT.usage, 'Name the labels with --add or --remove.')
        const { labelIds } = await getIssue(scope, [ref])
        const stored = labelIds.filter((id) => !removed.includes(id))
        return change(scope, ref, { labelIds: [...new Set([...stored, ...add])] })
      },
      text: ({ identifier, labels }) =>
        `${identifier} has ${labels.length === 0 ? 'no labels' : `the labels ${labels.map(({ name }) => name).join(', ')}`}.`,
    }),
    list({
      name: 'runs',
      summary: 'List the runs that worked on an issue, the latest first.',
      args: ['<issue>'],
      flags: LIMIT,
      examples: ['issue runs TER-6'],
      empty: 'No run worked on it.',
      load: async (scope, query, [ref]) =>
        scope.client.page('GET /api/issues/:issueId/runs', { params: theIssue(ref), query }),
      columns: runColumns,
    }),
    verb({
      name: 'changes',
      summary: 'Show the changes in the git worktree of an issue.',
      args: ['<issue>'],
      examples: ['issue changes TER-6', 'issue changes TER-6 --jq .patch'],
      async run(scope, [ref]) {
        const value = await scope.client.request('GET /api/issues/:issueId/changes', { params: theIssue(ref) })
        return { value, text: () => describeChanges(value) }
      },
    }),
    remove({
      summary: 'Delete an issue with its comments, documents and files. This cannot be undone.',
      args: ['<issue>'],
      examples: ['issue delete TER-6 --yes'],
      ask: ([ref]) => `Delete ${ref.toUpperCase()}? This cannot be undone. To keep its history, cancel it instead.`,
      send: async (scope, [ref]) => scope.client.request('DELETE /api/issues/:issueId', { params: theIssue(ref) }),
      text: ({ identifier }) => `${identifier} is deleted.`,
    }),
    documentList('documents', 'issue documents TER-6'),
    ...questionVerbs(),
  ])

function describeChanges(changes: ResponseOf<'GET /api/issues/:issueId/changes'>): string {
  if (changes.branch === null && changes.commits.length === 0) return 'The issue has no git worktree.'
  const head = fields([
    ['Branch', changes.branch],
    ['Folder', changes.path],
    ['Changed', `${changes.filesChanged} files, +${changes.insertions} -${changes.deletions}`],
    ['Not committed', changes.hasUncommitted ? 'yes' : undefined],
  ])
  const commits = changes.commits.map(({ hash, subject }) => `${hash.slice(0, 10)}  ${plain(subject)}`).join('\n')
  return [
    head,
    commits,
    plain(changes.patch),
    changes.isCut ? 'The changes are truncated because they exceed the size limit.' : '',
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

async function describe(
  {
    subIssues,
    comments,
    ...issue
  }: Issue & {
    subIssues: ResponseOf<'GET /api/companies/:companyId/issues'>
    comments: ResponseOf<'GET /api/issues/:issueId/comments'>
  },
  scope: Scope,
): Promise<string> {
  const { companyId } = await scope.inCompany()
  const [nameOf, personOf] = await Promise.all([scope.agentNames(), personNames(scope.client, companyId)])
  const thread = comments.map((one) => {
    const author =
      nameOf(one.authorAgentId) ||
      (one.authorType === 'user' ? (personOf(one.authorUserId) ?? 'the board') : 'the server')
    return `${paint('strong', author)}  ${paint('quiet', localTime(one.createdAt))}\n${plain(one.body)}`
  })
  const head = fields([
    [issue.identifier, issue.title],
    ['Status', words(issue.status)],
    ['Priority', issue.priority],
    ['Assignee', nameOf(issue.assigneeAgentId) || (personOf(issue.assigneeUserId) ?? issue.assigneeUserId)],
    ['Labels', issue.labels.map(({ name }) => name).join(', ')],
    ['Project', issue.project?.name],
    ['Goal', issue.goal?.title],
    ['Parents', issue.ancestors?.map((one) => one.identifier).join(' < ')],
    ['Blocked by', issue.blockedBy.map((one) => `${one.identifier} (${words(one.status)})`).join(', ')],
    ['Changed', `${localTime(issue.updatedAt)}${issue.unread ? ', unread' : ''}`],
  ])
  const parts = subIssues.map((one) => [
    one.identifier,
    one.title,
    words(one.status),
    nameOf(one.assigneeAgentId) || (personOf(one.assigneeUserId) ?? ''),
  ])
  return [
    head,
    ...(issue.description ? [plain(issue.description)] : []),
    ...(parts.length > 0 ? [`${paint('strong', 'Sub-issues')}\n${table(parts)}`] : []),
    ...thread,
  ].join('\n\n')
}
