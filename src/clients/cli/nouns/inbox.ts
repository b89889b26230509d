import { choice, LIMIT, toggle } from '../command/flag.ts'
import { ago, words } from '../command/output.ts'
import type { Scope } from '../command/scope.ts'
import { act, list, noun } from '../command/verb.ts'

const KINDS = ['approval', 'question', 'mention', 'assigned', 'failure', 'budget', 'stale'] as const

/** Without `--company`, the inbox of a person contains the items of all companies. */
const ofCompany = async (scope: Scope) => (scope.options.company === undefined ? {} : scope.inCompany())

type Mark = { read?: boolean; dismissed?: boolean }

const mark = (name: string, summary: string, body: Mark, done: string) =>
  act({
    name,
    summary,
    args: ['<item>'],
    examples: [`inbox ${name} latest`],
    note: 'The item is its id, as `inbox` prints it, or latest.',
    async send({ client }, [ref]) {
      const items = ref === 'latest' ? await client.request('GET /api/inbox') : []
      return client.request('PATCH /api/inbox/:itemId', { params: { itemId: items[0]?.id ?? ref }, body })
    },
    text: () => done,
  })

export const inboxCommand = () =>
  noun('inbox', 'Your inbox: items that need your decision or reply.', [
    list({
      summary: 'List the items that need you, the latest first.',
      flags: {
        ...LIMIT,
        kind: choice('--kind <kind>', KINDS),
        unread: { ...toggle('--unread', 'only unread items'), parse: () => 'true' as const },
      },
      examples: ['inbox list', 'inbox list --kind approval'],
      empty: 'Your inbox is empty.',
      page: 'inbox',
      load: async (scope, query) =>
        scope.client.request('GET /api/inbox', { query: { ...query, ...(await ofCompany(scope)) } }),
      columns: {
        Kind: ({ kind }) => words(kind),
        Issue: ({ issueIdentifier }) => issueIdentifier,
        Title: ({ title }) => title,
        About: ({ body }) => body,
        Age: ({ at }) => ago(at),
        Read: ({ readAt }) => (readAt === null ? '' : 'read'),
        Id: ({ id }) => id,
      },
    }),
    mark('read', 'Mark an item as read.', { read: true }, 'The item is read.'),
    mark('unread', 'Mark an item as unread.', { read: false }, 'The item is unread.'),
    mark('dismiss', 'Remove an item from the inbox until it changes.', { dismissed: true }, 'The item is dismissed.'),
  ])
