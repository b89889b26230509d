import type { ItemOf } from '../../client/types.ts'
import { CliError, EXIT } from '../../connection/exit-codes.ts'
import { choice, choices, json, many, required, text, toggle } from '../command/flag.ts'
import { ago, plain, shortId, words } from '../command/output.ts'
import type { Scope } from '../command/scope.ts'
import { act, create, list } from '../command/verb.ts'

type Question = ItemOf<'GET /api/issues/:issueId/interactions'>

const line = ({ status, title }: Question) => `The question is ${words(status)}: ${plain(title)}`

/** Finds a question of an issue by the end of its id. `latest` is the latest pending one. */
async function findQuestion(scope: Scope, issueId: string, ref: string) {
  const all = await scope.client.request('GET /api/issues/:issueId/interactions', { params: { issueId } })
  const found = all.findLast(({ id, status }) => (ref === 'latest' ? status === 'pending' : id.endsWith(ref)))
  if (found) return found
  const what = ref === 'latest' ? 'pending question' : `question ${ref}`
  throw new CliError(EXIT.notFound, `${issueId.toUpperCase()} has no ${what}.`)
}

/** Converts the labels of options and the titles of tasks to their ids. Anything else is an id already. */
function idsOf({ options, tasks }: Question, selected: readonly string[]): string[] {
  const names = new Map([
    ...options.map(({ id, label }) => [label.toLowerCase(), id] as const),
    ...tasks.map(({ id, title }) => [title.toLowerCase(), id] as const),
  ])
  return selected.map((one) => names.get(one.toLowerCase()) ?? one)
}

const choicesOf = ({ options, tasks }: Question) =>
  [...options.map(({ id, label }) => `${id} ${label}`), ...tasks.map(({ id, title }) => `${id} ${title}`)].join(', ')

/** The verbs for questions to people on an issue. */
export const questionVerbs = () => [
  list({
    name: 'questions',
    summary: 'List the questions of an issue.',
    args: ['<issue>'],
    flags: { status: choices('-s, --status <list>', ['pending', 'answered', 'cancelled']) },
    examples: ['issue questions TER-6'],
    empty: 'The issue has no questions.',
    load: async (scope, query, [issueId]) =>
      scope.client.page('GET /api/issues/:issueId/interactions', { params: { issueId }, query }),
    columns: {
      Id: ({ id }) => shortId(id),
      Kind: ({ kind }) => words(kind),
      Status: ({ status }) => status,
      Title: ({ title }) => title,
      Choices: choicesOf,
      Age: ({ createdAt }) => ago(createdAt),
    },
  }),
  create({
    name: 'ask',
    summary: 'Ask people a question on an issue.',
    args: ['<issue>', '<title>'],
    flags: {
      kind: required(choice('--kind <kind>', ['question', 'confirm', 'choose', 'suggest_tasks'])),
      question: text('--question <text>', 'markdown: what is needed to answer'),
      options: many(text('--options <list>', 'for choose: labels, separated by commas')),
      multiple: toggle('--multiple', 'for choose: several may be chosen'),
      recommended: text('--recommended <label>', 'for choose: the option that you recommend'),
      tasks: json<{ title: string }[]>('--tasks <json>', 'for suggest_tasks: the sub-issues'),
    },
    examples: [
      'issue ask TER-6 "Which datum?" --kind question',
      'issue ask TER-6 "Which format?" --kind choose --options "SVG,PNG" --recommended SVG',
    ],
    send: (scope, [issueId, title], body) =>
      scope.client.request('POST /api/issues/:issueId/interactions', { params: { issueId }, body: { ...body, title } }),
    text: line,
  }),
  act({
    name: 'answer',
    summary: 'Answer a question of an issue.',
    args: ['<issue>', '[text]'],
    flags: {
      question: text('--question <question>', 'its id (default: the latest that is pending)'),
      selected: many(text('--select <list>', 'of choose and suggest_tasks: numbers or labels, separated by commas')),
      confirmed: { ...choice('--confirm <answer>', ['yes', 'no']), parse: (answer: string) => answer === 'yes' },
      note: text('--note <text>'),
    },
    examples: ['issue answer TER-6 "Mean low water springs."'],
    async send(scope, [issueId, answer], { question = 'latest', selected, ...body }) {
      const found = await findQuestion(scope, issueId, question)
      return scope.client.request('POST /api/issues/:issueId/interactions/:interactionId/answer', {
        params: { issueId, interactionId: found.id },
        body: {
          ...body,
          ...(selected !== undefined && { selected: idsOf(found, selected) }),
          ...(answer !== undefined && { text: answer }),
        },
      })
    },
    text: line,
  }),
]
