import type { Command } from 'commander'
import { agentNames, findId, inCompany, personNames } from './find.ts'
import { ago, fields, localTime, paint, plain, table, words } from './output.ts'
import { clientOf, given, list, noun, type Options, show, textOf, verb, withLimit } from './verb.ts'

interface Change extends Options {
  title?: string
  description?: string
  status?: string
  priority?: string
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

// biome-ignore lint/suspicious/noExplicitAny: an issue or a comment as the API shows it.
type Shown = any

const withChange = (command: Command): Command =>
  command
    .option('-d, --description <text>', 'text, @file or -')
    .option('-s, --status <status>', 'backlog, todo, in_progress, in_review, blocked, done or cancelled')
    .option('--priority <priority>', 'critical, high, medium or low')
    .option('-a, --assignee <agent>', 'the agent whose work it is')
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
      .option('-q, --query <words>', 'words that stand in it')
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
      .option('--comment <text>', 'say something to it')
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
    verb('release', 'Give an issue back.', ['issue release TER-6']).argument('<issue>').action(release),
    verb('assign', 'Give an issue to an agent.', ['issue assign TER-6 Kit'])
      .argument('<issue>')
      .argument('<agent>')
      .action((ref, assignee, options) => update(ref, { ...options, assignee })),
    verb('done', 'Set an issue done.', ['issue done TER-6 --comment "It is drawn."'])
      .argument('<issue>')
      .option('--comment <text>')
      .action((ref, options) => update(ref, { ...options, status: 'done' })),
    verb('reopen', 'Open an issue again that is done or cancelled.', [
      'issue reopen TER-6 --comment "The datum is wrong."',
    ])
      .argument('<issue>')
      .option('--comment <text>', 'why')
      .action((ref, options) => update(ref, { ...options, reopen: true })),
  ])

const OPEN = 'backlog,todo,in_progress,in_review,blocked'

async function listAll(options: Filter): Promise<void> {
  const { client, path } = await inCompany(options)
  const { status, assignee, project, query, limit } = options
  const issues: Shown[] = await list(client, `${path}/issues`, {
    limit,
    status: status ?? (query === undefined ? OPEN : undefined),
    assigneeAgentId: assignee && (await findId(options, 'agent', assignee)),
    projectId: project && (await findId(options, 'project', project)),
    q: query,
  })
  const nameOf = options.json ? () => '' : await agentNames(client, path)
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
  const [issue, comments]: [Shown, Shown[]] = await Promise.all([
    client.request('GET', `/api/issues/${encodeURIComponent(ref)}`),
    client.request('GET', `/api/issues/${encodeURIComponent(ref)}/comments`),
  ])
  if (options.json) return show(options, { ...issue, comments }, () => '')
  const path = `/api/companies/${issue.companyId}`
  const [nameOf, personOf] = await Promise.all([agentNames(client, path), personNames(client, path)])
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

const describe = (issue: Shown, nameOf: (id: string | null) => string) =>
  fields([
    [issue.identifier, issue.title],
    ['Status', words(issue.status)],
    ['Priority', issue.priority],
    ['Assignee', nameOf(issue.assigneeAgentId) || issue.assigneeUserId],
    ['Project', issue.project?.name],
    ['Goal', issue.goal?.title],
    ['Below', issue.ancestors?.map((one: Shown) => one.identifier).join(' < ')],
    ['Waits for', issue.blockedBy.map((one: Shown) => `${one.identifier} (${words(one.status)})`).join(', ')],
    ['Changed', localTime(issue.updatedAt)],
  ])

async function changeOf(options: Change) {
  const { description, status, priority, assignee, project, goal, parent } = options
  const find = (what: 'agent' | 'project' | 'goal', ref: string | undefined) =>
    ref === undefined ? undefined : findId(options, what, ref)
  return given({
    description: description === undefined ? undefined : textOf(description),
    status,
    priority,
    assigneeAgentId: await find('agent', assignee),
    projectId: await find('project', project),
    goalId: await find('goal', goal),
    parentId: parent,
  })
}

async function create(title: string, options: Change): Promise<void> {
  const { client, path } = await inCompany(options)
  const issue: Shown = await client.request('POST', `${path}/issues`, { title, ...(await changeOf(options)) })
  show(options, issue, () => lineOf(issue))
}

async function update(ref: string, options: Change): Promise<void> {
  const client = clientOf(options)
  const path = `/api/issues/${encodeURIComponent(ref)}`
  // Names are those of the issue's own company.
  const needsCompany = options.company === undefined && (options.assignee ?? options.project ?? options.goal)
  const company = needsCompany ? (await client.request('GET', path)).companyId : options.company
  const change = await changeOf({ ...options, company })
  const issue: Shown = await client.request('PATCH', path, {
    ...change,
    ...given({ title: options.title, comment: options.comment, reopen: options.reopen }),
  })
  show(options, issue, () => lineOf(issue))
}

const lineOf = (issue: Shown) => `${issue.identifier} is ${words(issue.status)}: ${plain(issue.title)}`

async function comment(ref: string, text: string, options: Options): Promise<void> {
  // `@Name` begins many a comment, so it is no file here.
  const body = text === '-' ? textOf(text) : text
  const made: Shown = await clientOf(options).request('POST', `/api/issues/${encodeURIComponent(ref)}/comments`, {
    body,
  })
  show(options, made, () => `Said on ${ref.toUpperCase()}.`)
}

async function checkout(ref: string, options: Options & { agent?: string }): Promise<void> {
  const client = clientOf(options)
  const path = `/api/issues/${encodeURIComponent(ref)}`
  const company = options.company ?? (options.agent ? (await client.request('GET', path)).companyId : undefined)
  const agentId = options.agent && (await findId({ ...options, company }, 'agent', options.agent))
  const issue: Shown = await client.request('POST', `${path}/checkout`, given({ agentId }))
  show(options, issue, () => lineOf(issue))
}

async function release(ref: string, options: Options): Promise<void> {
  const issue: Shown = await clientOf(options).request('POST', `/api/issues/${encodeURIComponent(ref)}/release`)
  show(options, issue, () => lineOf(issue))
}
