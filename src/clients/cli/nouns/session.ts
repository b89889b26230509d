import { CliError, EXIT } from '../../connection/exit-codes.ts'
import { deviceOf } from '../../device.ts'
import { pick } from '../command/find.ts'
import { toggle } from '../command/flag.ts'
import { ago, localTime, shortId } from '../command/output.ts'
import type { Scope } from '../command/scope.ts'
import { list, noun, remove } from '../command/verb.ts'

export const sessionCommand = () =>
  noun('session', 'Sessions: the browsers in which you are signed in (authenticated mode).', [
    list({
      summary: 'List your sessions, the latest first.',
      examples: ['session list'],
      empty: 'You are signed in nowhere.',
      load: async (scope) => scope.client.request('GET /api/auth/sessions'),
      columns: {
        Browser: ({ userAgent }) => deviceOf(userAgent),
        'Signed in': ({ createdAt }) => `${ago(createdAt)} ago`,
        Expires: ({ expiresAt }) => localTime(expiresAt),
        Id: ({ id }) => shortId(id),
      },
    }),
    remove({
      summary: 'Sign out one of your sessions, or all of them.',
      args: ['[session]'],
      flags: { all: toggle('--all', 'sign out everywhere') },
      examples: ['session delete 3fc20a1b --yes', 'session delete --all --yes'],
      note: 'The session is its id, as `session list` prints it. Your tokens stay valid: see `service token delete`.',
      ask: ([ref]) => (ref === undefined ? 'Sign out everywhere?' : `Sign out the session ${ref}?`),
      async send({ client }: Scope, [ref], { all }) {
        if ((ref === undefined) === (all === undefined)) {
          throw new CliError(EXIT.usage, 'Give either the id of a session, or --all.')
        }
        if (ref === undefined) return client.request('POST /api/auth/sign-out-everywhere')
        const sessions = await client.request('GET /api/auth/sessions')
        const { id: sessionId } = pick(
          sessions.map(({ id }) => ({ id, names: [] })),
          ref,
          'session',
        )
        return client.request('DELETE /api/auth/sessions/:sessionId', { params: { sessionId } })
      },
      text: () => 'Signed out.',
    }),
  ])
