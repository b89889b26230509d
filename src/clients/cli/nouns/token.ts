import { expiry, LIMIT } from '../command/flag.ts'
import { ago, credentialStatus, localTime, paint, shortId } from '../command/output.ts'
import { create, list, noun, remove } from '../command/verb.ts'

export const tokenCommand = () =>
  noun('token', 'Tokens: your own credentials for scripts (authenticated mode).', [
    list({
      summary: 'List your tokens.',
      flags: LIMIT,
      examples: ['token list'],
      empty: 'You have no tokens. Create one in a browser, at /account of the server.',
      load: async (scope, query) => scope.client.page('GET /api/board/tokens', { query }),
      columns: {
        Name: ({ name }) => name,
        Begins: ({ prefix }) => prefix,
        Status: credentialStatus,
        Expires: ({ expiresAt }) => (expiresAt === null ? 'never' : localTime(expiresAt)),
        'Last used': ({ lastUsedAt }) => ago(lastUsedAt),
        Age: ({ createdAt }) => ago(createdAt),
        Id: ({ id }) => shortId(id),
      },
    }),
    create({
      summary: 'Create a token and print it once. Only a browser may: open /account of the server.',
      args: ['<name>'],
      flags: { expiresAt: expiry('--expires <time>', 'when it expires') },
      examples: ['token create laptop', 'token create ci --expires 90d'],
      send: async (scope, [name], fields) =>
        scope.client.request('POST /api/board/tokens', { body: { name, ...fields } }),
      text: ({ token }) => `${paint('strong', token)}\nIt is displayed only now. Put it into SERVICE_API_KEY.`,
    }),
    remove({
      summary: 'Revoke a token.',
      args: ['<token>'],
      examples: ['token delete laptop --yes'],
      ask: ([ref]) => `Revoke the token ${ref}?`,
      async send(scope, [ref]) {
        const all = await scope.client.request('GET /api/board/tokens')
        const found = all.find(({ id, name, revokedAt }) => id.endsWith(ref) || (name === ref && revokedAt === null))
        return scope.client.request('DELETE /api/board/tokens/:tokenId', { params: { tokenId: found?.id ?? ref } })
      },
      text: ({ name }) => `The token ${name} is revoked.`,
    }),
  ])
