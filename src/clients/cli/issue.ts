import type { Command } from 'commander'
import type { BodyOf, ResponseOf } from '../client/types.ts'
import { agentNames, findId, inCompany, personNames } from './find.ts'
import { readText } from './input.ts'
import { ago, fields, localTime, paint, plain, table, words } from './output.ts'
import { clientOf, list, mapDefined, noun, type Options, show, verb, withLimit } from './verb.ts'

type Issue = ResponseOf<'GET /api/issues/:issueId'>
type IssueChange = BodyOf<'PATCH /api/issues/:issueId'>

interface Change extends Options {
  title?: string
  description?: string
  status?: IssueChange['status']
  priority?: IssueChange['priority']
  assignee?: string
  project?: string
  goal?: string
  parent?: string
  comment?: string
  reopen?: boolean
}

interface Filter extends Options {
  status?: string
  assignee?: string
  project?: string
  query?: string
  limit: string
}

const withChange = (command: Command): Command =>
  command
    .option('-d, --description <text>', 'text, @file or -')
    .option('-s, --status <status>', 'backlog, todo, in_progress, in_review, blocked, done or cancelled')
    .option('--priority <priority>', 'critical, high, medium or low')
    .option('-a, --assignee <agent>', 'the agent that works on it')
    .option('--project <project>')
    .option('--goal <goal>')
    .option('--parent <issue>')

export const issueCommand = () =>
  noun('issue', 'Issues: pieces of work with a status and one assignee.', [
    withLimit(
      verb('list', 'List issues, the most urgent first.', [
        'issue list',
        'issue list --status todo,blocked --assignee Kit',
        'issue list --query "tide table"',
      ]),
    )
      .option('-s, --status <list>', 'only these, separated by commas (default: all that are open)')
      .option('-a, --assignee <agent>')
      .option('--project <project>')
      .option('-q, --query <words>', 'words to search for')
      .action(listAll),
    verb('show', 'Show an issue with its comments.', ['issue show TER-6']).argument('<issue>').action(showOne),
    withChange(
      verb('create', 'Create an issue.', [
        'issue create "Draw the curve" --assignee Kit',
        'issue create "Read the data" --parent TER-3 --description @data.md',
      ]),
    )
      .argument('<title>')
      .action(create),
    withChange(verb('update', 'Change an issue.', ['issue update TER-6 --priority high --status todo']))
      .argument('<issue>')
      .option('--title <title>')
      .option('--comment <text>', 'add a comment')
      .action((ref, options) => update(ref, options)),
    verb('comment', 'Comment on an issue; @Name wakes an agent.', [
      'issue comment TER-6 "@Kit Which datum?"',
      'git log -1 | service issue comment TER-6 -',
    ])
      .argument('<issue>')
      .argument('<text>', 'text, or - for standard input')
      .action(comment),
    verb('checkout', 'Check an issue out to an agent.', ['issue checkout TER-6 --agent Kit'])
      .argument('<issue>')
      .option('--agent <agent>', 'default: the agent whose key this is')
      .action(checkout),
    verb('release', 'Release an issue: give up its ownership.', ['issue release TER-6'])
      .argument('<issue>')
      .action(release),
    verb('assign', 'Assign an issue to an agent.', ['issue assign TER-6 Kit'])
      .argument('<issue>')
      .argument('<agent>')
      .action((ref, assignee, options) => update(ref, { ...options, assignee })),
    verb('done', 'Set an issue to done.', ['issue done TER-6 --comment "It is drawn."'])
      .argument('<issue>')
      .option('--comment <text>')
      .action(close),
    verb('reopen', 'Reopen an issue that is done or cancelled.', ['issue reopen TER-6 --comment "The datum is wrong."'])
      .argument('<issue>')
      .option('--comment <text>', 'why')
      .action((ref, options) => update(ref, { ...options, reopen: true })),
  ])

const OPEN = 'backlog,todo,in_progress,in_review,blocked'

async function listAll(options: Filter): Promise<void> {
  const { client, companyId } = await inCompany(options)
  const { status, assignee, project, query, limit } = options
  const issues = await list(client, 'GET /api/companies/:companyId/issues', {
    params: { companyId },
    query: {
      limit,
      status: status ?? (query === undefined ? OPEN : undefined),
      assigneeAgentId: await mapDefined(assignee, (ref) => findId(options, 'agent', ref)),
      projectId: await mapDefined(project, (ref) => findId(options, 'project', ref)),
      q: query,
    },
  })
  const nameOf = options.json ? () => '' : await agentNames(client, companyId)
  show(options, issues, () => {
    const rows = issues.map((issue) => [
      issue.identifier,
      issue.title,
      words(issue.status),
      issue.priority,
      nameOf(issue.assigneeAgentId) || (issue.assigneeUserId ?? ''),
      ago(issue.updatedAt),
    ])
    return table([['Issue', 'Title', 'Status', 'Priority', 'Assignee', 'Changed'], ...rows])
  })
}

async function showOne(ref: string, options: Options): Promise<void> {
  const client = clientOf(options)
  const params = { issueId: ref }
  const [issue, comments] = await Promise.all([
    client.request('GET /api/issues/:issueId', { params }),
    client.request('GET /api/issues/:issueId/comments', { params }),
  ])
  if (options.json) return show(options, { ...issue, comments }, () => '')
  const { companyId } = issue
  const [nameOf, personOf] = await Promise.all([agentNames(client, companyId), personNames(client, companyId)])
  show(options, issue, () => {
    const thread = comments.map((one) => {
      const author =
        nameOf(one.authorAgentId) ||
        (one.authorType === 'user' ? (personOf(one.authorUserId) ?? 'The board') : 'The server')
      return `${paint('strong', author)}  ${paint('quiet', localTime(one.createdAt))}\n${plain(one.body)}`
    })
    const description = issue.description ? [plain(issue.description)] : []
    return [describe(issue, nameOf), ...description, ...thread].join('\n\n')
  })
}

const describe = (issue: Issue, nameOf: (id: string | null) => string) =>
  fields([
    [issue.identifier, issue.title],
    ['Status', words(issue.status)],
    ['Priority', issue.priority],
    ['Assignee', nameOf(issue.assigneeAgentId) || issue.assigneeUserId],
    ['Project', issue.project?.name],
    ['Goal', issue.goal?.title],
    ['Parents', issue.ancestors?.map((one) => one.identifier).join(' < ')],
    ['Blocked by', issue.blockedBy.map((one) => `${one.identifier} (${words(one.status)})`).join(', ')],
    ['Changed', localTime(issue.updatedAt)],
  ])

async function changeOf(options: Change) {
  const { description, status, priority, assignee, project, goal, parent } = options
  const find = (what: 'agent' | 'project' | 'goal', name: string | undefined) =>
    mapDefined(name, (ref) => findId(options, what, ref))
  return {
    description: await mapDefined(description, readText),
    status,
    priority,
    assigneeAgentId: await find('agent', assignee),
    projectId: await find('project', project),
    goalId: await find('goal', goal),
    parentId: parent,
  }
}

async function create(title: string, options: Change): Promise<void> {
  const { client, companyId } = await inCompany(options)
  const body = { ...(await changeOf(options)), title }
  const issue = await client.request('POST /api/companies/:companyId/issues', { params: { companyId }, body })
  show(options, issue, () => lineOf(issue))
}

async function update(ref: string, options: Change): Promise<void> {
  const client = clientOf(options)
  const params = { issueId: ref }
  // Names are looked up in the issue's own company.
  const needsCompany = options.company === undefined && (options.assignee ?? options.project ?? options.goal)
  const company = needsCompany
    ? (await client.request('GET /api/issues/:issueId', { params })).companyId
    : options.company
  const { title, comment, reopen } = options
  const change = await changeOf({ ...options, ...(company !== undefined && { company }) })
  const issue = await client.request('PATCH /api/issues/:issueId', {
    params,
    body: { ...change, title, comment, reopen },
  })
  show(options, issue, () => lineOf(issue))
}

const lineOf = (issue: Pick<Issue, 'identifier' | 'status' | 'title'>) =>
  `${issue.identifier} is ${words(issue.status)}: ${plain(issue.title)}`

async function comment(ref: string, text: string, options: Options): Promise<void> {
  // Many comments begin with a mention, so `@Name` does not name a file here.
  const body = text === '-' ? await readText(text) : text
  const made = await clientOf(options).request('POST /api/issues/:issueId/comments', {
    params: { issueId: ref },
    body: { body },
  })
  show(options, made, () => `Said on ${ref.toUpperCase()}.`)
}

async function checkout(ref: string, options: Options & { agent?: string }): Promise<void> {
  const client = clientOf(options)
  const params = { issueId: ref }
  const agentId = await mapDefined(options.agent, async (name) => {
    const company = options.company ?? (await client.request('GET /api/issues/:issueId', { params })).companyId
    return findId({ ...options, company }, 'agent', name)
  })
  const issue = await client.request('POST /api/issues/:issueId/checkout', { params, body: { agentId } })
  show(options, issue, () => lineOf(issue))
}

/** Closes an issue: a person from any open status, an agent by the transition that its status allows. */
async function close(ref: string, options: Options & { comment?: string }): Promise<void> {
  const client = clientOf(options)
  const params = { issueId: ref }
  const { comment } = options
  const { type } = await client.request('GET /api/whoami')
  const issue =
    type === 'agent'
      ? await client.request('PATCH /api/issues/:issueId', { params, body: { status: 'done', comment } })
      : await client.request('POST /api/issues/:issueId/close', { params, body: { comment } })
  show(options, issue, () => lineOf(issue))
}

async function release(ref: string, options: Options): Promise<void> {
  const issue = await clientOf(options).request('POST /api/issues/:issueId/release', { params: { issueId: ref } })
  show(options, issue, () => lineOf(issue))
}
